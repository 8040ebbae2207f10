import {
  agent,
  agentTool,
  type Event,
  parallel,
  runtime,
  step,
  type ToolContext,
  ToolFailure,
  tool,
} from 'adjutant';

import { approve, model, roundModel, runTest, scriptedModel, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';

const named = (name: string, ...keys: readonly string[]) =>
  step({
    name,
    execute: async (ctx) => {
      const answers: string[] = [];
      for (const key of keys) answers.push(await ctx.ask(key, `${key}?`));
      return ctx.complete(answers.join(' '));
    },
  });

const asking = (...keys: readonly string[]) => named('asking', ...keys);

interface Called {
  readonly execute: (ctx: ToolContext) => unknown;
  readonly retry?: { readonly attempts: number };
}

/** An agent with one tool, and the app in which it runs to its end: each question is answered. */
function calling({ execute, retry }: Called) {
  const work = tool({
    name: 'work',
    description: 'Works',
    schema: { type: 'object' },
    ...(retry && { retry: { ...retry, initialDelayMs: 1 } }),
    execute,
  });
  const boss = agent({
    name: 'boss',
    model: roundModel([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }]),
    tools: [work],
  });
  const app = runtime({ app: 'test', recover: 'manual', runnables: [boss] });
  const answered = async (session?: string) => {
    let result = await (session === undefined
      ? app.run(boss, { input: 'Go', runId: 'r' })
      : app.resume(boss, session));
    while (result.status === 'yielded') {
      for (const { requestId } of result.pendingCalls.slice(0, 1))
        await app.requests.answer(requestId, { input: 'yes' });
      result = await app.resume(boss, result.session);
    }
    return result;
  };
  return { app, boss, answered };
}

/** Attempts of tools and their results, as the ledger tells them. */
const attemptsIn = (events: readonly Event[]) =>
  events.flatMap((event) => {
    if (event.type === 'tool_attempt') return [`attempt ${event.attempt}`];
    if (event.type !== 'tool_result') return [];
    return [`${event.result.errorType ?? event.result.status} of ${event.attempt}`];
  });

describe('a tool that waits for its child', () => {
  test('makes one attempt, however often the run is released: nothing interrupted it', async () => {
    const attempts: number[] = [];
    const { answered } = calling({
      execute: async (ctx) => {
        attempts.push(ctx.attempt);
        return (await ctx.call(asking('a', 'b'))).output;
      },
    });
    const { output, session } = await answered();
    expect(output).toBe('Done.');
    expect(attempts).toEqual([1, 1, 1]);
    expect(attemptsIn(session.events)).toEqual(['attempt 1', 'success of 1']);
    expect(JSON.stringify(explain(session))).not.toMatch(/interrupted|process stopped|not known/);
  });

  test('does so when one of two children goes on waiting, and when the child is an agent', async () => {
    const two = parallel({ name: 'two', runnables: [asking('a'), named('other', 'b')] });
    const { answered } = calling({ execute: async (ctx) => (await ctx.call(two)).output as never });
    expect(attemptsIn((await answered()).session.events)).toEqual(['attempt 1', 'success of 1']);

    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: { type: 'object' },
      approval: true,
      execute: () => 'paid',
    });
    const payer = agent({ name: 'payer', model: scriptedModel([]), tools: [pay] });
    const boss = agent({ name: 'boss', model: scriptedModel([]), tools: [agentTool(payer)] });
    const { session, result } = await runTest(boss, [
      user('Go'),
      model({ toolCalls: [{ name: 'payer', args: { message: 'Pay' } }] }),
      model({ toolCalls: [{ name: 'pay' }] }),
      approve(),
      model('Paid.'),
      model('Done.'),
    ]);
    expect(result.output).toBe('Done.');
    expect(attemptsIn(session.events)).toEqual([
      'attempt 1',
      'attempt 1',
      'success of 1',
      'success of 1',
    ]);
  });

  test('has all of its retries left', async () => {
    let failures = 0;
    const { answered } = calling({
      retry: { attempts: 2 },
      execute: async (ctx) => {
        const { output } = await ctx.call(asking('a', 'b', 'c'));
        if (failures++ === 0) throw new ToolFailure('Away.', { status: 'error_transient' });
        return output;
      },
    });
    const { session } = await answered();
    expect(attemptsIn(session.events)).toEqual([
      'attempt 1',
      'tool_error of 1',
      'attempt 2',
      'success of 2',
    ]);
  });

  test('may have a child whose question has the name of an agent', async () => {
    const { answered } = calling({
      execute: async (ctx) => (await ctx.call(asking('boss'))).output,
    });
    expect((await answered()).output).toBe('Done.');
  });
});

describe('a tool whose process was killed', () => {
  /** Goes on from the first `count` events of a run that was answered. */
  async function goesOnAfter(isLast: (event: Event) => boolean) {
    const execute = async (ctx: ToolContext) => (await ctx.call(asking('a', 'b'))).output;
    const { session } = await calling({ execute }).answered();
    const cut = session.events.findIndex(isLast) + 1;
    const { app, answered } = calling({ execute });
    const id = 'copy';
    await app.sessions.restore({ app: 'test', id, events: session.events.slice(0, cut) });
    return attemptsIn((await answered(id)).session.events);
  }
  const interrupted = ['attempt 1', 'interrupted of 1', 'attempt 2', 'success of 2'];

  test('while it worked with an answer: the attempt was interrupted', async () => {
    const attempts = await goesOnAfter(
      ({ type, invocationId }) => type === 'invocation_end' && invocationId === 'r/r1.0/asking/a',
    );
    expect(attempts).toEqual(interrupted);
  });

  test('before its run was released', async () => {
    expect(await goesOnAfter(({ type }) => type === 'tool_yield')).toEqual(interrupted);
  });

  test('after its run was released, or right as it went on: nothing interrupted it', async () => {
    const whole = ['attempt 1', 'success of 1'];
    expect(await goesOnAfter(({ type }) => type === 'tool_input')).toEqual(whole);
    expect(await goesOnAfter(({ type }) => type === 'invocation_resume')).toEqual(whole);
  });
});
