import { agent, runtime, tool, toolResult } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { counting, forbidden, loopDecisions, settledResults, stubbornModel } from './stubborn.ts';

const failing = (): never => {
  throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
};

/** Works on a file and looks at it again by turns, each time with another text. */
const editAndCheck = (round: number) => [
  round % 2 === 0 ? { name: 'check', args: { file: 'a' } } : { name: 'write', args: { text: `try ${round}` } },
];

async function work(check: () => unknown, write: object, rounds: number) {
  const checked = counting('check', check, { readOnly: true });
  const written = counting('write', () => 'written', write);
  const worker = agent({ name: 'worker', model: stubbornModel(editAndCheck), tools: [checked.tool, written.tool], limits: { rounds } });
  const { session } = await runtime({ app: 'test' }).run(worker, 'go');
  return {
    checks: checked.entered.length,
    verdicts: loopDecisions(session.events).map(({ decision, data }) => `${decision} ${String(data?.['detector'])}`),
  };
}

test('a call that failed for good is made again after something was done that may have mended it; only the same result stops it', async () => {
  const { checks, verdicts } = await work(failing, { recovery: 'report' }, 12);
  expect(checks).toBe(4);
  expect(verdicts).toEqual(['warn repeat', 'warn repeat', 'block repeat', 'block repeat']);
});

test('what does not say that it changes something mends nothing', async () => {
  const { checks, verdicts } = await work(failing, {}, 12);
  expect(checks).toBeLessThanOrEqual(2);
  expect(verdicts[0]).toBe('block exhausted');
});

test('doing the same thing again mends nothing either', async () => {
  const page = counting('fetch_page', forbidden);
  const note = counting('note', () => 'noted', { destructive: true });
  const model = stubbornModel((round) => [round % 2 === 0 ? { name: 'fetch_page', args: {} } : { name: 'note', args: { text: 'same' } }]);
  const worker = agent({ name: 'worker', model, tools: [page.tool, note.tool], limits: { rounds: 14 } });
  const { session } = await runtime({ app: 'test' }).run(worker, 'go');
  expect(page.entered.length).toBeLessThanOrEqual(3);
  expect(loopDecisions(session.events).some(({ decision }) => decision === 'block')).toBe(true);
});

test('errors of no kind of their own are told apart by their words: what fails in another way each time is not given up', async () => {
  const tests = counting('run_tests', (_args, times) => {
    throw new Error(`${String.fromCharCode(96 + times)} fails`);
  });
  const edit = counting('edit', () => 'done');
  const model = stubbornModel((round) => [round % 2 === 0 ? { name: 'run_tests', args: {} } : { name: 'edit', args: { line: round } }]);
  const worker = agent({ name: 'worker', model, tools: [tests.tool, edit.tool], limits: { rounds: 12 } });
  const { session } = await runtime({ app: 'test' }).run(worker, 'go');
  expect(tests.entered).toHaveLength(6);
  expect(loopDecisions(session.events).filter(({ decision }) => decision === 'block')).toEqual([]);
});

test('a fallback tool that nobody has is passed over, and the decision says so', async () => {
  const page = counting('fetch_page', forbidden, { fallback: 'fetch_pgae' });
  const reader = agent({ name: 'reader', model: stubbornModel(() => [{ name: 'fetch_page', args: {} }]), tools: [page.tool] });
  const { session } = await runtime({ app: 'test' }).run(reader, 'go');
  const routed = session.events.flatMap((event) => (event.type === 'decision' && event.component === 'error_router' ? [event.reasoning] : []));
  expect(routed[0]).toMatch(/Its fallback tool "fetch_pgae" does not exist\.$/);
  expect(page.entered).toHaveLength(2);
});

test('tests that fail with the same words are run again after each edit, until the same result stops them', async () => {
  const tests = counting('run_tests', () => {
    throw new Error('one test fails');
  });
  const edit = counting('edit', () => 'done');
  const model = stubbornModel((round) => [round % 2 === 0 ? { name: 'run_tests', args: {} } : { name: 'edit', args: { line: round } }]);
  const worker = agent({ name: 'worker', model, tools: [tests.tool, edit.tool], limits: { rounds: 12 } });
  const { session } = await runtime({ app: 'test' }).run(worker, 'go');
  expect(tests.entered).toHaveLength(4);
  expect(loopDecisions(session.events).at(-1)).toMatchObject({ decision: 'block', data: { detector: 'repeat' } });
});

test('a round in which something new succeeded is no round that led nowhere, whatever else in it was not let through', async () => {
  const page = counting('fetch_page', forbidden);
  const read = counting('read', (args) => args);
  const both = (round: number) => [{ name: 'fetch_page', args: {} }, ...(round < 8 ? [{ name: 'read', args: { page: round } }] : [])];
  const worker = agent({ name: 'worker', model: stubbornModel(both), tools: [page.tool, read.tool], limits: { rounds: 25 } });
  const { session, stopReason } = await runtime({ app: 'test' }).run(worker, 'go');
  expect(read.entered).toHaveLength(8);
  expect(page.entered).toHaveLength(2);
  expect(stopReason).toBe('loop');
  expect(loopDecisions(session.events).filter(({ decision }) => decision === 'block').length).toBeLessThanOrEqual(8);
});

test('a tool result that is the answer goes through the guardrails of answers', async () => {
  const table = counting('table', () => toolResult.success('Call me: secret', { final: true }));
  const redacting = {
    name: 'redacting',
    output: ({ text }: { text: string }) => ({ action: 'transform' as const, value: text.replace('secret', '…') }),
  };
  const refusing = { name: 'refusing', output: () => ({ action: 'deny' as const, message: 'Not for you.' }) };
  const run = async (guardrail: typeof redacting | typeof refusing) => {
    const model = stubbornModel(() => [{ name: 'table', args: {} }]);
    return await runtime({ app: 'test' }).run(agent({ name: 'teller', model, tools: [table.tool], supervision: { guardrails: [guardrail] } }), 'go');
  };
  expect(await run(redacting)).toMatchObject({ status: 'completed', output: 'Call me: …' });
  const refused = await run(refusing);
  expect(refused).toMatchObject({ status: 'completed', output: 'Not for you.', stopReason: 'refused' });
  expect(refused.session.events.some((event) => event.type === 'decision' && event.component === 'guardrail' && event.decision === 'deny')).toBe(
    true,
  );
});

test('arguments that a guardrail changed have to fit the tool', async () => {
  const sent: unknown[] = [];
  const send = tool({ name: 'send', description: 'Sends', schema: z.object({ to: z.email() }), execute: ({ args }) => sent.push(args) });
  const to = (value: string) => ({ name: 'to', toolCall: () => ({ action: 'transform' as const, value: { to: value } }) });
  const run = async (value: string) => {
    const model = scriptedModel([{ toolCalls: [{ name: 'send', args: { to: 'ann@example.com' } }] }, { text: 'done' }]);
    const { session } = await runtime({ app: 'test' }).run(
      agent({ name: 'sender', model, tools: [send], supervision: { guardrails: [to(value)] } }),
      'go',
    );
    return settledResults(session.events)[0]?.result;
  };
  expect(await run('[email]')).toMatchObject({ status: 'error_blocked', errorType: 'guardrail_denied' });
  expect(sent).toEqual([]);
  expect(await run('desk@example.com')).toMatchObject({ status: 'success' });
  expect(sent).toEqual([{ to: 'desk@example.com' }]);
});
