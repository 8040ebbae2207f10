import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, runtime } from 'adjutant';
import { type EvalReport, type EvalReports, evalReports, evaluate } from 'adjutant/eval';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { sampleReport } from '../sample-report.ts';

function kept(options: { maxBytes?: number } = {}): { folder: string; reports: EvalReports } {
  const home = mkdtempSync(join(tmpdir(), 'evals-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const folder = join(home, 'evals');
  return { folder, reports: evalReports({ folder, ...options }) };
}

const countries = ['France', 'Norway', 'Peru', 'Japan'];

/** An eval of a geographer that knows some capitals. */
function capitals(runId: string, knows: readonly string[], version: string): Promise<EvalReport> {
  const model = scriptedModel((prompt) => {
    const text = JSON.stringify(prompt.at(-1));
    const known = knows.find((country) => text.includes(country));
    return { text: known === undefined ? 'I do not know.' : `The capital of ${known}.` };
  });
  return evaluate({
    name: 'Capitals: Europe & more',
    runId,
    dataset: countries.map((id) => ({
      id,
      input: `What is the capital of ${id}?`,
      expect: { response: { matches: /^The capital/ } },
    })),
    variants: [
      { name: 'v', version, app: runtime({ app: 'geo' }), runnable: agent({ name: 'geo', model }) },
    ],
  });
}

test('a report that is kept is listed, read and shown as it was', async () => {
  const { folder, reports } = kept();
  expect(await reports.list()).toEqual({ reports: [] });
  const report = await capitals('monday', ['France'], '1');
  const { id, file } = await reports.keep(report);
  expect(id).toMatch(/^\d{8}T\d{9}-capitals-europe-more-[0-9a-f]{8}$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual([`${id}.json`]);
  // The same run again is the same report.
  expect((await reports.keep(report)).id).toBe(id);
  expect(await reports.read(id)).toEqual(JSON.parse(JSON.stringify(report)));
  const { reports: listed } = await reports.list();
  expect(listed).toMatchObject([
    {
      id,
      report: {
        name: 'Capitals: Europe & more',
        runId: 'monday',
        passed: false,
        variants: [
          { name: 'v', version: '1', app: 'geo', agent: 'geo', summary: { cases: 4, passed: 1 } },
        ],
      },
    },
  ]);
  const failed = await reports.show(id, { outcome: 'failed', text: 'NORWAY', limit: 1 });
  expect(failed).toMatchObject({
    matches: 1,
    cases: [
      {
        id: 'Norway',
        variant: 'v',
        expect: { response: { matches: { $regex: '^The capital' } } },
        trials: [{ passed: false, turns: [{ assistant: 'I do not know.' }] }],
      },
    ],
  });
  expect(failed.cursor).toBe(undefined);
});

test('pages of reports and of cases go on where they ended', async () => {
  const { reports } = kept();
  const report = sampleReport({ cases: 5, trials: 1 });
  for (let day = 0; day < 3; day++)
    await reports.keep({ ...report, startedAt: report.startedAt + day * 86_400_000 });
  const first = await reports.list({ limit: 2 });
  const second = await reports.list({ limit: 2, cursor: first.cursor ?? '' });
  const times = [...first.reports, ...second.reports].map((one) => one.report?.startedAt ?? 0);
  expect(times.toSorted((a, b) => b - a)).toEqual(times);
  expect([times.length, second.cursor]).toEqual([3, undefined]);
  const id = first.reports[0]?.id ?? '';
  const cases = await reports.show(id, { limit: 4 });
  const rest = await reports.show(id, { cursor: cases.cursor ?? '' });
  expect([cases.matches, cases.cases.length, rest.cases.length]).toEqual([10, 4, 6]);
  await expect(reports.show(id, { cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_cursor' });
  await expect(reports.list({ cursor: '../x' })).rejects.toMatchObject({ code: 'invalid_cursor' });
});

test('two runs are compared case by case, worse ones first', async () => {
  const { reports } = kept();
  const before = await capitals('before', ['France', 'Norway'], '1');
  const after = await capitals('after', ['France', 'Peru'], '2');
  const one = await reports.keep(before);
  const other = await reports.keep({
    ...after,
    variants: after.variants.map((variant) => ({
      ...variant,
      cases: variant.cases.map((evalCase) =>
        evalCase.id === 'Japan' ? { ...evalCase, id: 'Kenya' } : evalCase,
      ),
    })),
  });
  const compared = await reports.compare(one.id, other.id);
  expect(compared.cases.map(({ id, change }) => [id, change])).toEqual([
    ['Norway', 'worse'],
    ['Japan', 'only_baseline'],
    ['Kenya', 'only_candidate'],
    ['Peru', 'better'],
    ['France', 'same'],
  ]);
  expect(compared.counts).toMatchObject({ worse: 1, better: 1, same: 1, only_candidate: 1 });
  expect(compared.comparison).toMatchObject({
    improved: ['Peru'],
    regressed: ['Norway'],
    cases: 3,
  });
  expect(compared.baseline.variant).toMatchObject({ name: 'v', version: '1' });
  expect(compared.cases[0]).toMatchObject({
    input: 'What is the capital of Norway?',
    outputDiffers: true,
    baseline: { passRate: 1, output: 'The capital of Norway.' },
    candidate: { passRate: 0, output: 'I do not know.', finding: expect.any(String) },
  });
  const paged = await reports.compare(one.id, other.id, { limit: 2 });
  expect([paged.cases.length, paged.cursor]).toEqual([2, '2']);
  await expect(reports.compare(one.id, other.id, { variant: 'w' })).rejects.toMatchObject({
    code: 'eval_variant_not_found',
  });
});

test('two variants of one report are compared as the report itself does', async () => {
  const { reports } = kept();
  const report = sampleReport({ cases: 20, trials: 3 });
  const { id } = await reports.keep(report);
  const { comparison, baseline, candidate } = await reports.compare(id, id);
  expect([baseline.variant.name, candidate.variant.name]).toEqual(
    report.variants.map(({ name }) => name),
  );
  expect(comparison.cases).toBe(20);
});

test('files that are no reports are told each by itself', async () => {
  const { folder, reports } = kept({ maxBytes: 100_000 });
  const report = sampleReport({ cases: 2, trials: 1 });
  const { id } = await reports.keep(report);
  const write = (name: string, value: unknown): void =>
    writeFileSync(
      join(folder, `${name}.json`),
      typeof value === 'string' ? value : JSON.stringify(value),
    );
  write('no-json', '{"format":');
  write('later', { ...report, v: 2 });
  write('other', { name: 'package' });
  write('null', 'null');
  write('large', ' '.repeat(100_001));
  write('endless', JSON.stringify(report).replace('"startedAt":', '"startedAt":1e999,"x":'));
  write(
    'deep',
    JSON.stringify(report).replace('"args":{', `"args":{"a":${'['.repeat(500)}${']'.repeat(500)},`),
  );
  write('.hidden', report);
  mkdirSync(join(folder, 'folder.json'));
  writeFileSync(join(folder, '..', 'outside.json'), JSON.stringify(report));
  symlinkSync(join(folder, '..', 'outside.json'), join(folder, 'link.json'));
  const { reports: listed } = await reports.list();
  expect(Object.fromEntries(listed.map((one) => [one.id, one.problem?.reason ?? 'read']))).toEqual({
    [id]: 'read',
    'no-json': 'not_json',
    later: 'unknown_version',
    other: 'damaged',
    null: 'damaged',
    large: 'too_large',
    endless: 'damaged',
    deep: 'damaged',
  });
  await expect(reports.read('large')).rejects.toMatchObject({
    code: 'eval_report_unreadable',
    message: 'The report "large" cannot be read: it has 100001 bytes, and at most 100000 are read.',
  });
  for (const name of ['link', 'folder', 'nowhere', '../outside', '..', '', '.hidden', 'a/b', 'a\0'])
    await expect(reports.read(name)).rejects.toMatchObject({ code: 'eval_report_not_found' });
});

test('wrong options are refused', () => {
  expect(() => evalReports({ folder: '' })).toThrow('`folder`');
  expect(() => evalReports({ folder: 'x', maxBytes: 0 })).toThrow('`maxBytes`');
});
