import { agent, parallel, type Runtime, runtime, step, ToolFailure, tool } from 'adjutant';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type AdjutantServer, server } from '../../src/index.ts';
import { type ReadFrame, SseReader } from './sse-reader.ts';

async function readAll(
  made: AdjutantServer,
  path: string,
  lastId?: string,
): Promise<readonly ReadFrame[]> {
  const answer = await made.fetch(
    new Request(`http://localhost${path}`, {
      headers: lastId === undefined ? {} : { 'last-event-id': lastId },
    }),
  );
  return answer.status === 204 ? [] : new SseReader(answer).rest();
}

let failures = 0;
const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({ where: z.string() }),
  readOnly: true,
  retry: { initialDelayMs: 1, attempts: 2 },
  execute: () => {
    if (++failures === 1) throw new ToolFailure('not now', { status: 'error_transient' });
    return 'found';
  },
});
const send = tool({
  name: 'send',
  description: 'Sends',
  schema: z.object({ to: z.string() }),
  approval: true,
  execute: ({ args: { to } }) => `sent to ${to}`,
});

/** A run with a retry, arguments that do not fit, two calls at once and an approval. */
async function assisted(): Promise<{
  readonly app: Runtime;
  readonly made: AdjutantServer;
  readonly requestId: string;
}> {
  failures = 0;
  const model = scriptedModel([
    {
      text: 'I look first.',
      toolCalls: [
        { name: 'look', args: { where: 'here' } },
        { name: 'look', args: { where: 5 } },
      ],
    },
    { toolCalls: [{ name: 'send', args: { to: 'ann' } }] },
    { chunks: ['It is ', 'done.'] },
  ]);
  const app = runtime({ app: 'test' });
  const made = server(app);
  await app.run(agent({ name: 'helper', model, tools: [look, send] }), {
    session: 's',
    input: 'Go',
    runId: 'r',
  });
  const [request] = await app.requests.list();
  const requestId = request?.requestId ?? '';
  await app.requests.answer(requestId, { decision: 'approve', by: 'ann' });
  await app.resume('s');
  return { app, made, requestId };
}

test('profile steps: the events of 002 with their data', async () => {
  const { made } = await assisted();
  const frames = await readAll(made, '/v1/sessions/s/runs/r/stream?profile=steps');
  const told = frames.map(({ event, data }) => ({ event, ...data }));
  const any = expect.any(Number);
  const waiting = expect.objectContaining({ event: 'waiting' });
  expect(told.slice(0, 4)).toEqual([
    { event: 'run_start', run_id: 'r', agent_id: 'helper', config_version: null },
    { event: 'step_start', step_id: 'r/r1', step_number: 1, agent_id: 'helper' },
    {
      event: 'tool_call_start',
      tool_name: 'look',
      tool_input: { where: 'here' },
      call_id: 'r/r1.0',
      agent_id: 'helper',
      step_id: 'r/r1',
    },
    {
      event: 'tool_call_start',
      tool_name: 'look',
      tool_input: { where: 5 },
      call_id: 'r/r1.1',
      agent_id: 'helper',
      step_id: 'r/r1',
    },
  ]);
  const results = told.filter(({ event }) => event === 'tool_call_result');
  const result = { event: 'tool_call_result', tool_name: 'look', latency_ms: any, step_id: 'r/r1' };
  expect(results).toContainEqual({
    ...result,
    call_id: 'r/r1.0',
    tool_output: 'found',
    validation_ok: true,
    status: 'success',
  });
  expect(results).toContainEqual({
    ...result,
    call_id: 'r/r1.1',
    tool_output: expect.anything(),
    validation_ok: false,
    status: 'error_permanent',
  });
  expect(told).toContainEqual({
    event: 'error',
    error_type: expect.any(String),
    message: expect.stringContaining('not now'),
    step_id: 'r/r1',
  });
  const rest = told.slice(told.findIndex(({ event }) => event === 'step_end'));
  expect(rest).toEqual([
    {
      event: 'step_end',
      step_id: 'r/r1',
      step_number: 1,
      agent_id: 'helper',
      tokens_used: 15,
      latency_ms: any,
    },
    { event: 'step_start', step_id: 'r/r2', step_number: 2, agent_id: 'helper' },
    {
      event: 'tool_call_start',
      tool_name: 'send',
      tool_input: { to: 'ann' },
      call_id: 'r/r2.0',
      agent_id: 'helper',
      step_id: 'r/r2',
    },
    waiting,
    expect.objectContaining({
      event: 'tool_call_result',
      tool_output: 'sent to ann',
      step_id: 'r/r2',
    }),
    {
      event: 'step_end',
      step_id: 'r/r2',
      step_number: 2,
      agent_id: 'helper',
      tokens_used: 15,
      latency_ms: any,
    },
    { event: 'step_start', step_id: 'r/r3', step_number: 3, agent_id: 'helper' },
    {
      event: 'step_end',
      step_id: 'r/r3',
      step_number: 3,
      agent_id: 'helper',
      tokens_used: 15,
      latency_ms: any,
    },
    { event: 'run_end', run_id: 'r', status: 'completed', output: 'It is done.' },
    expect.objectContaining({ event: 'end', status: 'completed' }),
  ]);
});

test('profile messages: the events of 004 with their data', async () => {
  const { made, requestId } = await assisted();
  const frames = await readAll(made, '/v1/sessions/s/runs/r/stream?profile=messages');
  const told = frames.map(({ event, data }) => ({ event, ...data }));
  expect(told.filter(({ event }) => event !== 'TOOL_RESULT')).toEqual([
    { event: 'MESSAGE_START', message_id: 'r/r1', agent: 'helper' },
    {
      event: 'TOOL_CALL_START',
      tool_call_id: 'r/r1.0',
      tool_name: 'look',
      args: { where: 'here' },
      agent: 'helper',
    },
    {
      event: 'TOOL_CALL_START',
      tool_call_id: 'r/r1.1',
      tool_name: 'look',
      args: { where: 5 },
      agent: 'helper',
    },
    { event: 'MESSAGE_CHUNK', message_id: 'r/r1', text: 'I look first.' },
    {
      event: 'MESSAGE_END',
      message_id: 'r/r1',
      agent: 'helper',
      text: 'I look first.',
      status: 'completed',
    },
    { event: 'MESSAGE_START', message_id: 'r/r2', agent: 'helper' },
    {
      event: 'TOOL_CALL_START',
      tool_call_id: 'r/r2.0',
      tool_name: 'send',
      args: { to: 'ann' },
      agent: 'helper',
    },
    { event: 'MESSAGE_END', message_id: 'r/r2', agent: 'helper', text: '', status: 'completed' },
    expect.objectContaining({
      event: 'STATE_CHANGE',
      state: 'WAITING_FOR_APPROVAL',
      request_id: requestId,
      tool_call_id: 'r/r2.0',
      args: { to: 'ann' },
    }),
    expect.objectContaining({ event: 'waiting' }),
    { event: 'MESSAGE_START', message_id: 'r/r3', agent: 'helper' },
    { event: 'MESSAGE_CHUNK', message_id: 'r/r3', text: 'It is done.' },
    {
      event: 'MESSAGE_END',
      message_id: 'r/r3',
      agent: 'helper',
      text: 'It is done.',
      status: 'completed',
    },
    { event: 'EXECUTION_END', run_id: 'r', status: 'completed', output: 'It is done.' },
    expect.objectContaining({ event: 'end', status: 'completed' }),
  ]);
  const results = told.filter(({ event }) => event === 'TOOL_RESULT');
  expect(
    results
      .map((result) => [Reflect.get(result, 'tool_call_id'), Reflect.get(result, 'status')])
      .sort(),
  ).toEqual([
    ['r/r1.0', 'success'],
    ['r/r1.1', 'error_permanent'],
    ['r/r2.0', 'success'],
  ]);
});

test.each(['native', 'steps', 'messages'])(
  'profile %s: every frame of a recorded run can be the last one before a cut',
  async (profile) => {
    const { made } = await assisted();
    const path = `/v1/sessions/s/runs/r/stream?profile=${profile}`;
    const uncut = await readAll(made, path);
    const durable = (frames: readonly ReadFrame[]) =>
      frames.filter(({ id, event }) => id !== undefined && event !== 'end');
    let groups = 0;
    for (const [index, { id }] of uncut.entries()) {
      if (id === undefined) continue;
      if (id.includes('.')) groups++;
      const after = await readAll(made, path, id);
      expect(durable(after)).toEqual(durable(uncut.slice(index + 1)));
    }
    expect(groups > 0).toBe(profile === 'steps');
  },
);

test(
  'steps and branches: what a step says is a message, and each branch has its ' + 'own steps',
  async () => {
    const saying = step({ name: 'saying', execute: (ctx) => ctx.respond('Hello.') });
    const one = agent({ name: 'one', model: scriptedModel([{ text: 'First.' }]) });
    const two = agent({ name: 'two', model: scriptedModel([{ text: 'Second.' }]) });
    const app = runtime({ app: 'test' });
    const made = server(app);
    await app.run(parallel({ name: 'both', runnables: [saying, one, two] }), {
      session: 's',
      input: 'Go',
      runId: 'r',
    });
    const messages = await readAll(
      made,
      '/v1/sessions/s/stream?profile=messages'.replace('/s/stream', '/s/runs/r/stream'),
    );
    const texts = messages
      .filter(({ event }) => event === 'MESSAGE_END')
      .map(({ data }) => data['text']);
    expect([...texts].sort()).toEqual(['First.', 'Hello.', 'Second.']);
    const steps = await readAll(made, '/v1/sessions/s/runs/r/stream?profile=steps');
    const numbers = steps
      .filter(({ event }) => event === 'step_end')
      .map(({ data }) => data['step_number']);
    expect([...numbers].sort()).toEqual([1, 2]);
    expect(steps.filter(({ event }) => event === 'run_start' || event === 'run_end').length).toBe(
      2,
    );
  },
);

test('a run that fails or is cancelled says how it ended', async () => {
  const app = runtime({ app: 'test' });
  const made = server(app);
  const broken = agent({
    name: 'broken',
    model: scriptedModel([{ error: new Error('no model') }]),
  });
  await app.run(broken, { session: 's', input: 'Go', runId: 'r' });
  const failed = await readAll(made, '/v1/sessions/s/runs/r/stream?profile=steps');
  expect(failed.map(({ event }) => event)).toEqual([
    'run_start',
    'step_start',
    'error',
    'step_end',
    'run_end',
    'end',
  ]);
  expect(failed.at(-1)?.data).toMatchObject({
    status: 'error',
    error: { code: expect.any(String) },
  });
  expect(failed.at(-2)?.data).toMatchObject({ run_id: 'r', status: 'failed' });
  const slow = agent({ name: 'slow', model: scriptedModel([{ text: 'late', delayMs: 60_000 }]) });
  const run = app.run(slow, { session: 't', input: 'Go', runId: 'r' });
  await run.accepted();
  const frames = readAll(made, '/v1/sessions/t/runs/r/stream?profile=messages');
  await app.cancel('t', { reason: 'enough' });
  const told = await eventually(frames);
  expect(told.slice(-3).map(({ event, data }) => [event, data['status']])).toEqual([
    ['MESSAGE_END', 'cancelled'],
    ['EXECUTION_END', 'cancelled'],
    ['end', 'cancelled'],
  ]);
});

test('profile steps: a warning when a limit is nearly used up', async () => {
  const app = runtime({ app: 'test' });
  const made = server(app);
  const model = scriptedModel((_prompt, round, { toolChoice }) =>
    toolChoice?.type === 'none' || round > 12
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'look', args: { where: `${round}` } }] },
  );
  const looker = agent({ name: 'looker', model, tools: [look], limits: { rounds: 10 } });
  await app.run(looker, { session: 's', input: 'Go', runId: 'r' });
  const frames = await readAll(made, '/v1/sessions/s/runs/r/stream?profile=steps');
  const warnings = frames.filter(({ event }) => event === 'budget_warning');
  expect(warnings.map(({ data }) => data)).toEqual([
    { run_id: 'r', reason: 'round_limit', used: 9, limit: 10, of: 'agent' },
  ]);
  expect(warnings[0]?.id).toMatch(/^\d+$/);
});
