import {
  agent,
  type Event,
  loop,
  memoryStore,
  parallel,
  type Runnable,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import {
  appendBoundaries,
  continueFrom,
  runWhole,
  type ScriptedResponse,
  scriptedModel,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { shuffledCalls } from './recovery/scenarios.ts';

const done = (name: string) => step({ name, execute: (ctx) => ctx.complete(`${name} is done`) });

/**
 * Runs `before` until the part named `stuck` begins, stops there, and gives what is in the ledger
 * then.
 */
async function stopAt(
  before: (stuck: Runnable) => Runnable,
  name = 'stuck',
): Promise<readonly Event[]> {
  const begun = Promise.withResolvers<void>();
  const stuck = step({
    name,
    execute: async (ctx) => {
      begun.resolve();
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    },
  });
  const app = runtime({ app: 'mismatch', store: memoryStore() });
  const run = app.run(before(stuck), { input: 'Go', runId: 'run', session: 'stopped' });
  await begun.promise;
  run.stop();
  await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
  return (await app.sessions.open({ id: 'stopped' })).events;
}

/** The events of a whole run up to the end of the invocation at `path`. */
async function cutBefore(path: string, runnable: Runnable): Promise<readonly Event[]> {
  const { session } = await runtime({ app: 'mismatch', store: memoryStore() }).run(runnable, {
    input: 'Go',
    runId: 'run',
  });
  const end = session.events.findIndex(
    (event) => event.type === 'invocation_end' && event.invocationId === path,
  );
  return session.events.slice(0, end);
}

async function continueWith(events: readonly Event[], runnable: Runnable) {
  const app = runtime({ app: 'mismatch', store: memoryStore(), runnables: [runnable] });
  const session = await app.sessions.restore({ app: 'mismatch', id: 'stopped', events });
  return { session, result: app.resume(session) };
}

test(
  'each of twenty concurrent calls keeps its own outcome, whatever the order in which they ' +
    'come',
  async () => {
    const whole = await runWhole(shuffledCalls);
    const outputs = Array.from({ length: 20 }, (_, i) => `did item ${i}`);
    expect(whole.outcome.result.output).toEqual(outputs);
    const state = Object.fromEntries(outputs.map((_, i) => [`item${i}`, 1]));
    expect(whole.outcome.state).toEqual({ session: state });
    for (const cut of appendBoundaries(whole.events)) {
      if (cut === whole.events.length) continue;
      const { outcome } = await continueFrom(shuffledCalls, whole.events.slice(0, cut));
      expect({ cut, output: outcome.result.output, state: outcome.state }).toEqual({
        cut,
        output: outputs,
        state: { session: state },
      });
    }
  },
);

test(
  'a part that has another name now is a mismatch, and nothing runs or is recorded ' + 'as failed',
  async () => {
    const events = await stopAt((stuck) =>
      sequence({ name: 'all', runnables: [done('first'), stuck, done('last')] }),
    );
    let ran = false;
    const renamed = step({
      name: 'renamed',
      execute: () => {
        ran = true;
      },
    });
    const { session, result } = await continueWith(
      events,
      sequence({ name: 'all', runnables: [done('first'), renamed, done('last')] }),
    );
    await expect(result).rejects.toMatchObject({ code: 'ledger_mismatch' });
    expect(ran).toBe(false);
    expect(session.events.filter(({ type }) => type === 'invocation_end')).toHaveLength(1);
  },
);

test('a part inserted before a finished one is a mismatch', async () => {
  const events = await stopAt((stuck) =>
    sequence({ name: 'all', runnables: [done('first'), stuck] }),
  );
  const { result } = await continueWith(
    events,
    sequence({ name: 'all', runnables: [done('new'), done('first'), done('stuck')] }),
  );
  await expect(result).rejects.toMatchObject({
    code: 'ledger_mismatch',
    data: { found: expect.stringContaining('run/new') },
  });
});

test('the right code continues after a mismatch', async () => {
  const events = await stopAt((stuck) =>
    sequence({ name: 'all', runnables: [done('first'), stuck] }),
  );
  const wrong = await continueWith(
    events,
    sequence({ name: 'all', runnables: [done('first'), done('other')] }),
  );
  await expect(wrong.result).rejects.toMatchObject({ code: 'ledger_mismatch' });
  const right = await continueWith(
    wrong.session.events,
    sequence({ name: 'all', runnables: [done('first'), done('stuck')] }),
  );
  expect(await right.result).toMatchObject({ status: 'completed', output: 'stuck is done' });
});

test('another kind under the same name is a mismatch', async () => {
  const events = await stopAt((stuck) => sequence({ name: 'all', runnables: [stuck] }));
  const { result } = await continueWith(
    events,
    sequence({ name: 'all', runnables: [agent({ name: 'stuck', model: scriptedModel([]) })] }),
  );
  await expect(result).rejects.toMatchObject({ code: 'ledger_mismatch' });
});

const calling = (child: Runnable, message: string, onDrift?: 'accept' | 'fail') =>
  step({
    name: 'caller',
    ...(onDrift === undefined ? {} : { onDrift }),
    execute: async (ctx) => {
      const { output } = await ctx.call(child, { message, key: 'the-call' });
      return ctx.complete(String(output));
    },
  });

test('a recorded call under the same key with another input is a mismatch', async () => {
  const events = await stopAt((stuck) => calling(stuck, 'old'));
  const { result } = await continueWith(events, calling(done('stuck'), 'new'));
  await expect(result).rejects.toMatchObject({
    code: 'ledger_mismatch',
    data: { path: 'run/the-call' },
  });
});

test('a finished call is returned by its key whatever the code would give it now', async () => {
  const events = await stopAt((stuck) =>
    sequence({ name: 'all', runnables: [calling(done('child'), 'old'), stuck] }),
  );
  const { result } = await continueWith(
    events,
    sequence({ name: 'all', runnables: [calling(done('child'), 'new'), done('stuck')] }),
  );
  expect(await result).toMatchObject({ status: 'completed' });
});

test('a step that no longer asks for a recorded child fails and says so, unless it accepts that', async () => {
  const events = await stopAt((stuck) => calling(stuck, 'old'));
  const forgetful = step({ name: 'caller', execute: (ctx) => ctx.complete('without') });
  const failed = await continueWith(events, forgetful);
  expect(await failed.result).toMatchObject({
    status: 'error',
    error: { code: 'orphaned_child' },
  });
  expect(failed.session.events.find(({ type }) => type === 'decision')).toMatchObject({
    decision: 'fail_orphaned_child',
  });
  const accepting = step({
    name: 'caller',
    onDrift: 'accept',
    execute: (ctx) => ctx.complete('without'),
  });
  const accepted = await continueWith(events, accepting);
  expect(await accepted.result).toMatchObject({ status: 'completed', output: 'without' });
});

test('a mismatch in one branch stops the others without recording an end of them', async () => {
  const events = await stopAt((stuck) =>
    parallel({ name: 'both', runnables: [stuck, done('other')] }),
  );
  let signal: AbortSignal | undefined;
  const waiting = step({
    name: 'other',
    execute: (ctx) => {
      signal = ctx.signal;
      return new Promise((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve(undefined)),
      );
    },
  });
  const cut = events.filter((event) => event.invocationId !== 'run/other');
  const renumbered = cut.map((event, i) => ({ ...event, seq: i + 1 }) as Event);
  const { session, result } = await continueWith(
    renumbered,
    parallel({
      name: 'both',
      runnables: [agent({ name: 'stuck', model: scriptedModel([]) }), waiting],
    }),
  );
  await expect(result).rejects.toMatchObject({ code: 'ledger_mismatch' });
  expect(signal?.aborted).toBe(true);
  expect(session.events.some(({ type }) => type === 'invocation_end')).toBe(false);
  expect(session.ledger.lease.claim).toBeUndefined();
});

test(
  'a runnable that the app does not have is named, and the run goes on when it is ' + 'registered',
  async () => {
    const events = await stopAt((stuck) => sequence({ name: 'all', runnables: [stuck] }));
    const app = runtime({ app: 'mismatch', store: memoryStore() });
    const session = await app.sessions.restore({ app: 'mismatch', id: 'stopped', events });
    await expect(app.resume(session)).rejects.toMatchObject({
      code: 'unknown_runnable',
      data: { name: 'all' },
    });
    const right = await continueWith(
      session.events,
      sequence({ name: 'all', runnables: [done('stuck')] }),
    );
    expect(await right.result).toMatchObject({ status: 'completed' });
  },
);

test(
  'a branch that is gone while it was open is a mismatch before anything runs; a finished ' +
    'one is not compared',
  async () => {
    const events = await stopAt((stuck) =>
      parallel({ name: 'both', runnables: [done('first'), stuck] }),
    );
    let ran = false;
    const fresh = step({
      name: 'fresh',
      execute: () => {
        ran = true;
      },
    });
    const wrong = await continueWith(
      events,
      parallel({ name: 'both', runnables: [done('first'), fresh] }),
    );
    await expect(wrong.result).rejects.toMatchObject({
      code: 'ledger_mismatch',
      data: { recorded: 'the open part "run/stuck"' },
    });
    expect(ran).toBe(false);
    const cut = await cutBefore(
      'run/other',
      parallel({ name: 'both', runnables: [done('first'), done('other')] }),
    );
    const right = await continueWith(
      cut,
      parallel({ name: 'both', runnables: [fresh, done('other')] }),
    );
    expect(await right.result).toMatchObject({
      status: 'completed',
      output: { other: 'other is done' },
    });
    expect(ran).toBe(true);
  },
);

test('an iteration that had begun is finished, even if there may be fewer now', async () => {
  const again = (maxIterations: number) =>
    loop({ name: 'again', runnable: done('part'), maxIterations });
  const { session, result } = await continueWith(await cutBefore('run/#2', again(3)), again(1));
  expect(await result).toMatchObject({ status: 'completed', output: 'part is done' });
  const paths = session.events.flatMap((event) =>
    event.type === 'invocation_end' ? [event.invocationId] : [],
  );
  expect(paths).toEqual(['run/#1', 'run/#2', 'run']);
});

test('a reopened agent makes the model call again that ended it', async () => {
  const failing = scriptedModel([{ error: Object.assign(new Error('no'), { statusCode: 400 }) }]);
  const app = runtime({ app: 'mismatch', store: memoryStore() });
  const { session, status } = await app.run(agent({ name: 'worker', model: failing }), {
    input: 'Go',
    runId: 'run',
  });
  expect(status).toBe('error');
  session.append([
    {
      type: 'invocation_reopen',
      by: 'operator',
      invocationId: 'run',
      reason: 'the provider is back',
    },
  ]);
  const { result } = await continueWith(
    session.events,
    agent({ name: 'worker', model: scriptedModel([{ text: 'done' }]) }),
  );
  expect(await result).toMatchObject({ status: 'completed', output: 'done' });
});

test(
  'a tool that no longer asks for the child it had open fails, and a decision ' + 'says so',
  async () => {
    const asking = (stuck: Runnable | undefined) =>
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        execute: async (ctx) => {
          if (stuck !== undefined) await ctx.call(stuck);
          return 'asked';
        },
      });
    const worker = (stuck: Runnable | undefined, responses: readonly ScriptedResponse[]) =>
      agent({ name: 'worker', model: scriptedModel(responses), tools: [asking(stuck)] });
    const events = await stopAt((stuck) => worker(stuck, [{ toolCalls: [{ name: 'ask' }] }]));
    const same = await continueWith(events, worker(done('stuck'), [{ text: 'done' }]));
    await same.result;
    expect(same.session.events.findLast((event) => event.type === 'tool_result')).toMatchObject({
      result: { status: 'success' },
    });
    const other = await continueWith(events, worker(undefined, [{ text: 'done' }]));
    expect(await other.result).toMatchObject({ status: 'completed', output: 'done' });
    const settled = other.session.events.filter(
      (event) => event.type === 'tool_result' && event.settled,
    );
    expect(settled).toMatchObject([
      {
        result: {
          status: 'unknown',
          content: expect.stringContaining('no longer asks for run/r1.0/stuck'),
        },
      },
    ]);
    expect(other.session.events).toContainEqual(
      expect.objectContaining({ type: 'decision', decision: 'fail_orphaned_child' }),
    );
  },
);
