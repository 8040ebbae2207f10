import { expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

test('show has the events of a type, an agent, a time and a text', async () => {
  const { run } = bench();
  await run(['--session', 'sum', 'What is 12 * 12?']);
  const all = jsonLines((await run(['show', 'sum', '--events', '--json'])).stdout);
  const shown = async (...options: readonly string[]) =>
    jsonLines((await run(['show', 'sum', ...options, '--json'])).stdout);
  expect(await shown('--type', 'tool_call,tool_result')).toEqual(
    all.filter(({ type }) => type === 'tool_call' || type === 'tool_result'),
  );
  const calculated = await shown('--text', 'CALCULATE', '--at', String(all.length - 1));
  expect(calculated.length).toBeGreaterThan(1);
  expect(calculated.every((event) => JSON.stringify(event).includes('calculate'))).toBe(true);
  const agent = all.find(({ type }) => type === 'tool_call')?.['agent'] as string;
  expect(await shown('--agent', agent, '--type', 'assistant')).toMatchObject([
    { type: 'assistant', agent },
  ]);
  expect(await shown('--agent', 'nobody')).toEqual([]);
  const last = all.at(-1)?.['at'] as number;
  expect(await shown('--to', String(last + 1))).toEqual(all);
  expect(await shown('--from', new Date(last + 1).toISOString())).toEqual([]);
  const text = (await run(['show', 'sum', '--type', 'tool_call'])).stdout;
  expect(text).toMatch(/^sum · /);
  expect(text).toMatch(/ tool_call /);
  expect(text).not.toMatch(/ tool_result /);
});

test('show refuses types that there are not', async () => {
  const { run } = bench();
  await run(['--session', 'sum', 'What is 12 * 12?']);
  expect(await run(['show', 'sum', '--type', 'tool_cal'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('did you mean tool_call?'),
  });
});
