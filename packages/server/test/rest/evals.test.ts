import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdjutantServer, apiKeys, type NewApiKey, server } from '@adjutant/server';
import { agent, memoryStore, runtime } from 'adjutant';
import { evalReports, evaluate } from 'adjutant/eval';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { client } from '../../src/client/index.ts';
import { callerOf, callerTo } from './caller.ts';

const cases = ['France', 'Norway', 'Peru'].map((id) => ({
  id,
  input: `Capital of ${id}?`,
  expect: { response: { contains: 'Paris' } },
}));

function geographer(text: string) {
  return agent({ name: 'geographer', model: scriptedModel(() => ({ text })) });
}

/** A folder with the reports of two runs: in the second one nothing is known any more. */
async function measured() {
  const folder = mkdtempSync(join(tmpdir(), 'evals-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const reports = evalReports({ folder });
  const run = async (runId: string, text: string) => {
    const app = runtime({ app: 'measured', store: memoryStore() });
    const variants = [{ name: 'v', version: runId, app, runnable: geographer(text) }];
    const report = await evaluate({ name: 'Capitals', runId, dataset: cases, variants });
    return (await reports.keep(report)).id;
  };
  return { folder, before: await run('a', 'Paris, Oslo'), after: await run('b', 'Unknown') };
}

async function shop() {
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [geographer('Paris')] });
  const kept = await measured();
  const caller = callerOf(app, { evals: { folder: kept.folder, maxBytes: 200_000 } });
  const { evals } = client({
    url: 'http://localhost',
    fetch: async (input, init) => await caller.api.fetch(new Request(input, init)),
  });
  return { app, ...kept, ...caller, evals };
}

test('reports are listed, shown in pages, filtered and compared', async () => {
  const { evals, before, after, get } = await shop();
  const { reports } = await evals.list().page();
  expect(new Set(reports.map(({ id }) => id))).toEqual(new Set([before, after]));
  expect(reports.map(({ report }) => report?.passed).sort()).toEqual([false, true]);
  const first = await evals.list({ limit: 1 }).page();
  const second = await evals.list({ limit: 1 }).page(first.cursor);
  expect([...first.reports, ...second.reports].map(({ id }) => id)).toEqual(
    reports.map(({ id }) => id),
  );
  expect(second.cursor).toBe(undefined);
  const page = await evals.get(after, { outcome: 'failed', limit: 2 });
  expect(page).toMatchObject({ matches: 3, cases: [{ id: 'France' }, { id: 'Norway' }] });
  const rest = await evals.get(after, { outcome: 'failed', cursor: page.cursor });
  expect(rest.cases.map(({ id, variant }) => [id, variant])).toEqual([['Peru', 'v']]);
  expect((await evals.get(after, { text: 'norway' })).matches).toBe(1);
  expect((await evals.get(after, { outcome: 'passed' })).cases).toEqual([]);
  const compared = await evals.compare(before, after);
  expect(compared).toMatchObject({
    baseline: { id: before, variant: { version: 'a' } },
    candidate: { id: after, variant: { version: 'b' } },
    counts: { worse: 3, better: 0, same: 0 },
    cases: [{ baseline: { output: 'Paris, Oslo' }, candidate: { output: 'Unknown' } }, {}, {}],
  });
  expect((await get(`/v1/evals/${after}/comparison?with=${before}&limit=1`)).body.cursor).toBe('1');
});

test('what is not there, wrong or damaged is refused with a code, and harms no other', async () => {
  const { folder, before, evals, get } = await shop();
  writeFileSync(join(folder, 'broken.json'), '{"format":"adjutant-eval-report","v":1}');
  writeFileSync(join(folder, 'later.json'), '{"format":"adjutant-eval-report","v":9}');
  writeFileSync(join(folder, 'large.json'), ' '.repeat(200_001));
  const refused = async (path: string) => {
    const { status, body } = await get(`/v1/evals${path}`);
    return [status, body.code];
  };
  expect(await refused('/nowhere')).toEqual([404, 'eval_report_not_found']);
  expect(await refused('/..%2F..%2Fetc%2Fpasswd')).toEqual([404, 'eval_report_not_found']);
  expect(await refused(`/${before}/comparison?with=nowhere`)).toEqual([
    404,
    'eval_report_not_found',
  ]);
  expect(await refused(`/${before}?variant=w`)).toEqual([404, 'eval_variant_not_found']);
  for (const id of ['broken', 'later', 'large']) {
    expect(await refused(`/${id}`)).toEqual([409, 'eval_report_unreadable']);
    expect(await refused(`/${before}/comparison?with=${id}`)).toEqual([
      409,
      'eval_report_unreadable',
    ]);
  }
  for (const query of ['?limit=0', '?limit=many', '?colour=red'])
    expect(await refused(query)).toEqual([400, 'invalid_request']);
  expect(await refused(`/${before}?outcome=odd`)).toEqual([400, 'invalid_request']);
  expect(await refused(`/${before}/comparison`)).toEqual([400, 'invalid_request']);
  expect(await refused('?cursor=%20')).toEqual([400, 'invalid_cursor']);
  expect(await refused(`/${before}?cursor=x`)).toEqual([400, 'invalid_cursor']);
  const { reports } = await evals.list().page();
  expect(reports.flatMap(({ id, problem }) => problem && [[id, problem.reason]])).toEqual([
    ['later', 'unknown_version'],
    ['large', 'too_large'],
    ['broken', 'damaged'],
    undefined,
    undefined,
  ]);
});

test('a server without a folder says so', async () => {
  const { get } = callerOf(runtime({ app: 'shop', store: memoryStore() }));
  expect((await get('/v1/evals')).body.code).toBe('evals_unavailable');
});

test('callers who may not see all of the app are refused', async () => {
  const app = runtime({ app: 'shop', store: memoryStore() });
  const { folder, before } = await measured();
  const api: AdjutantServer = server(app, { auth: {}, dashboard: false, evals: { folder } });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const status = async (bound: Partial<NewApiKey>, path = '/v1/evals') => {
    const made = await apiKeys(app).create({ name: 'x', roles: ['viewer'], ...bound });
    const { get } = callerTo(api, { authorization: `Bearer ${made.credential}` });
    const { status: answered, body } = await get(path);
    return [answered, body.code];
  };
  expect(await status({})).toEqual([200, undefined]);
  for (const bound of [{ user: 'ann' }, { agents: ['geographer'] }, { tenant: 'other' }])
    for (const path of ['', `/${before}`, `/${before}/comparison?with=${before}`])
      expect(await status(bound, `/v1/evals${path}`)).toEqual([403, 'forbidden']);
});
