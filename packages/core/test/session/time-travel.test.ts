import {
  agent,
  type Event,
  parallel,
  run,
  runtime,
  type Session,
  sequence,
  session,
  step,
  tool,
} from 'adjutant';
import { includeHistory } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import {
  computeStateAtEvent,
  findEventIndex,
  findInvocationBoundary,
  snapshotAt,
  validateResumeState,
} from 'adjutant/views';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { arbitraryLedger } from '../arbitrary-ledger.ts';

const big = 'x'.repeat(100_000);

function userOf(state: Session['state']): Record<string, unknown> {
  return state['user'] as Record<string, unknown>;
}

let original: Promise<Session> | undefined;

/** A session of two steps and an agent that have changed state. */
async function recorded(): Promise<Session> {
  original ??= record();
  return (await original).clone();
}

async function record(): Promise<Session> {
  const count = step({
    name: 'count',
    execute: (ctx) => {
      ctx.state['n'] = 1;
      userOf(ctx.state)['theme'] = 'dark';
    },
  });
  const writer = agent({
    name: 'writer',
    model: scriptedModel([{ text: 'done' }]),
    output: 'text',
  });
  const forget = step({
    name: 'forget',
    execute: (ctx) => {
      ctx.state['n'] = undefined;
    },
  });
  const made = await session('travel', { id: 's', userId: 'u' });
  await run(sequence({ name: 'all', runnables: [count, writer, forget] }), {
    session: made,
    input: 'Go',
    runId: 'run',
  });
  return made;
}

function seqOf(events: readonly Event[], matches: (event: Event) => boolean): number {
  return events.find(matches)?.seq ?? Number.NaN;
}

describe('stateAt', () => {
  test(
    'has every scope, the status, the agent and the tree as they were after ' + 'the event',
    async () => {
      const made = await recorded();
      const { events } = made;
      const counted = seqOf(
        events,
        (event) => event.type === 'invocation_end' && event.invocationId === 'run/count',
      );
      const then = made.stateAt(counted);
      expect(then).toMatchObject({
        seq: counted,
        status: 'active',
        sessionState: { n: 1 },
        userState: { theme: 'dark' },
        currentAgentName: undefined,
      });
      expect(then.invocationTree).toMatchObject([
        {
          invocationId: 'run',
          kind: 'sequence',
          status: 'open',
          startIndex: seqOf(events, ({ type }) => type === 'invocation_start'),
          children: [
            { invocationId: 'run/count', status: 'completed', endIndex: counted, children: [] },
          ],
        },
      ]);
      expect(then.invocationTree[0]).not.toHaveProperty('endIndex');
      const last = made.stateAt(events.length);
      expect(last).toMatchObject({
        status: 'completed',
        sessionState: { text: 'done' },
        currentAgentName: 'writer',
      });
      expect(last.sessionState).not.toHaveProperty('n');
      expect(last.invocationTree[0]?.children.map(({ name }) => name)).toEqual([
        'count',
        'writer',
        'forget',
      ]);
    },
  );

  test('before the first event there is nothing', async () => {
    const made = await recorded();
    expect(made.stateAt(0)).toEqual({
      seq: 0,
      status: 'active',
      sessionState: {},
      overlays: {},
      invocationTree: [],
      currentAgentName: undefined,
    });
    expect(snapshotAt([], 0)).toEqual(made.stateAt(0));
    expect(computeStateAtEvent(made.events, 0, 'session')).toEqual({});
  });

  test.each([-1, 0.5, Number.NaN, 1_000])('refuses the seq %d', async (seq) => {
    const made = await recorded();
    const last = made.events.length;
    for (const ask of [
      () => made.stateAt(seq),
      () => made.forkAt(seq),
      () => computeStateAtEvent(made.events, seq, 'session'),
    ]) {
      expect(ask).toThrow(
        expect.objectContaining({ code: 'seq_out_of_range', data: { seq, last } }),
      );
    }
  });

  test('in the middle of a parallel the writes of each branch stand beside the state', async () => {
    const write = (name: string) =>
      step({
        name,
        execute: async (ctx) => {
          ctx.state['by'] = name;
          if (name === 'b') ctx.state['before'] = undefined;
          await ctx.call(step({ name: 'inner', execute: () => undefined }));
        },
      });
    const made = await session('travel');
    made.state['before'] = 1;
    await run(parallel({ name: 'both', runnables: [write('a'), write('b')] }), {
      session: made,
      runId: 'run',
    });
    const { events } = made;
    const writes = events.filter(
      (event) =>
        event.type === 'state_change' &&
        event.invocationId !== undefined &&
        event.invocationId !== 'run',
    );
    const middle = Math.max(...writes.map(({ seq }) => seq));
    expect(made.stateAt(middle)).toMatchObject({
      sessionState: { before: 1 },
      overlays: { 'run/a': { by: 'a' }, 'run/b': { by: 'b' } },
    });
    expect(made.stateAt(middle).overlays['run/b']).toHaveProperty('before', undefined);
    expect(made.stateAt(events.length)).toMatchObject({ sessionState: { by: 'b' }, overlays: {} });
  });

  test('large values are whole where they can be resolved, and references where not', async () => {
    const made = await session('travel');
    made.state['kept'] = big;
    expect(made.stateAt(1).sessionState['kept']).toBe(big);
    expect(computeStateAtEvent(made.events, 1, 'session')['kept']).toMatchObject({
      size: big.length + 2,
    });
    expect(computeStateAtEvent(made.events, 1, 'session', made.ledger.resolve)['kept']).toBe(big);
    const fork = made.forkAt(1);
    expect(fork.state['kept']).toBe(big);
  });

  test('after the last event it is what the session says, for every ledger', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLedger(), async (events) => {
        const made = await session.fromSnapshot({ app: 'travel', id: 's', events });
        const now = made.stateAt(events.length);
        expect(now.status).toBe(made.status);
        expect(now.currentAgentName).toBe(made.currentAgentName);
        expect(now.sessionState).toEqual({ ...made.state });
        expect(computeStateAtEvent(events, events.length, 'session')).toEqual(now.sessionState);
      }),
      { numRuns: 60 },
    );
  });
});

describe('looking up', () => {
  test('an event id gives its seq, which is the place to look at', async () => {
    const made = await recorded();
    const change = made.events.find((event) => event.type === 'state_change') as Event;
    expect(made.eventIndexOf(change.id)).toBe(change.seq);
    expect(findEventIndex(made.events, made.events[0]?.id ?? '')).toBe(1);
    expect(findEventIndex(made.events, made.events.at(-1)?.id ?? '')).toBe(made.events.length);
    expect(made.eventIndexOf('no such event')).toBeUndefined();
    expect(made.stateAt(change.seq).sessionState).not.toEqual(
      made.stateAt(change.seq - 1).sessionState,
    );
  });

  test(
    'an invocation reaches from its start to its end; one that is open has no end, also ' +
      'after it was reopened',
    async () => {
      const made = await recorded();
      const boundary = made.invocationBoundary('run/writer');
      expect(boundary).toEqual({
        invocationId: 'run/writer',
        agentName: 'writer',
        startIndex: seqOf(
          made.events,
          (event) => event.type === 'invocation_start' && event.name === 'writer',
        ),
        endIndex: seqOf(
          made.events,
          (event) => event.type === 'invocation_end' && event.invocationId === 'run/writer',
        ),
      });
      const open = findInvocationBoundary(made.events.slice(0, boundary?.startIndex), 'run/writer');
      expect(open).toEqual({
        invocationId: 'run/writer',
        agentName: 'writer',
        startIndex: boundary?.startIndex,
      });
      expect(made.invocationBoundary('run/nobody')).toBeUndefined();
      made.append([
        { type: 'invocation_reopen', by: 'operator', invocationId: 'run/writer', reason: 'again' },
      ]);
      expect(made.invocationBoundary('run/writer')).toEqual(open);
      made.append([
        { type: 'invocation_end', by: 'runtime', invocationId: 'run/writer', status: 'completed' },
      ]);
      expect(made.invocationBoundary('run/writer')).toEqual({
        ...open,
        endIndex: made.events.length,
      });
    },
  );
});

describe('forkAt', () => {
  test('gives a session that runs on its own, and knows what the prefix knew', async () => {
    const made = await recorded();
    const before = JSON.stringify(made);
    const counted = seqOf(
      made.events,
      (event) => event.type === 'invocation_end' && event.invocationId === 'run/count',
    );
    const fork = made.forkAt(counted);
    expect(fork.id).not.toBe(made.id);
    expect(fork.events.slice(0, counted)).toEqual(made.events.slice(0, counted));
    expect(fork.state).toMatchObject({ n: 1 });
    expect(userOf(fork.state)['theme']).toBe('dark');
    const ran: string[] = [];
    const named = (name: string) => step({ name, execute: () => void ran.push(name) });
    const writer = agent({
      name: 'writer',
      model: scriptedModel([{ text: 'otherwise' }]),
      output: 'text',
    });
    const result = await run(
      sequence({ name: 'all', runnables: [named('count'), writer, named('forget')] }),
      { session: fork },
    );
    expect(result).toMatchObject({ status: 'completed', session: fork });
    expect(ran).toEqual(['forget']);
    expect(fork.state).toMatchObject({ n: 1, text: 'otherwise' });
    expect(JSON.stringify(made)).toBe(before);
  });

  test('can be handed to a runtime as it is', async () => {
    const runner = runtime({ app: 'travel' });
    const talker = agent({
      name: 'talker',
      model: scriptedModel([{ text: 'one' }, { text: 'two' }]),
    });
    const { session: made } = await runner.run(talker, { input: 'Hello', session: 's' });
    const fork = made.forkAt(made.events.length);
    fork.addMessage('Try a different path');
    expect(await runner.run(talker, fork)).toMatchObject({ status: 'completed', output: 'two' });
    expect(
      made.events.some((event) => event.type === 'user' && event.text === 'Try a different path'),
    ).toBe(false);
  });

  test(
    'takes a message of its own, and keeps what it writes to shared scopes ' + 'to itself',
    async () => {
      const made = await session('travel', { userId: 'shared-by-both' });
      userOf(made.state)['theme'] = 'dark';
      await made.flush();
      const fork = made.forkAt(made.events.length);
      fork.addMessage('Try something else');
      userOf(fork.state)['theme'] = 'light';
      await fork.flush();
      const later = await session('travel', { userId: 'shared-by-both' });
      expect(userOf(later.state)['theme']).toBe('dark');
      expect(made.events.some((event) => event.type === 'user')).toBe(false);
      expect(fork.events.at(-1)).toMatchObject({ type: 'state_change', scope: 'user' });
    },
  );

  test(
    'every prefix of every ledger forks, and neither side sees what the ' + 'other does',
    async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryLedger(), fc.nat(), async (events, place) => {
          const made = await session.fromSnapshot({ app: 'travel', id: 's', events });
          const seq = place % (events.length + 1);
          const fork = made.forkAt(seq);
          const then = fork.stateAt(seq);
          expect(then).toEqual(made.stateAt(seq));
          fork.state['mine'] = 'fork';
          made.state['mine'] = 'original';
          expect(made.events.slice(0, events.length)).toEqual(events);
          expect(made.events.length).toBe(events.length + 1);
          expect(fork.events.slice(0, seq)).toEqual(events.slice(0, seq));
          expect([fork.state['mine'], made.state['mine']]).toEqual(['fork', 'original']);
          expect(fork.stateAt(seq)).toEqual(then);
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe('validateResumeState', () => {
  const ask = {
    fingerprint: 'f',
    request: { agent: 'a', summary: 'May I?', options: ['approve', 'reject'] as const },
  };
  const waiting = [
    {
      type: 'invocation_start',
      by: 'runtime',
      invocationId: 'run',
      kind: 'agent',
      name: 'a',
      mode: 'root',
    },
    {
      type: 'tool_yield',
      by: 'runtime',
      invocationId: 'run',
      callId: 'run/r1.0',
      name: 'pay',
      args: { cents: 5 },
      kind: 'approval',
      requestId: 'q1',
      generation: 1,
      ...ask,
    },
    {
      type: 'tool_yield',
      by: 'runtime',
      invocationId: 'run',
      callId: 'run/r1.1',
      name: 'ask',
      args: {},
      kind: 'input',
      requestId: 'q2',
      generation: 1,
      ...ask,
    },
    { type: 'invocation_yield', by: 'runtime', invocationId: 'run', reason: 'tool_input' },
  ] as const;

  test('says which calls wait, until each is answered', async () => {
    const made = await session('travel');
    made.append(waiting);
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      openRun: 'run',
      awaitingInput: [],
      pendingCalls: [
        {
          callId: 'run/r1.0',
          requestId: 'q1',
          invocationId: 'run',
          name: 'pay',
          args: { cents: 5 },
          kind: 'approval',
          request: ask.request,
        },
        {
          callId: 'run/r1.1',
          requestId: 'q2',
          invocationId: 'run',
          name: 'ask',
          args: {},
          kind: 'input',
          request: ask.request,
        },
      ],
    });
    made.append([
      {
        type: 'tool_input',
        by: 'user',
        invocationId: 'run',
        callId: 'run/r1.0',
        requestId: 'q1',
        decision: 'approve',
      },
    ]);
    expect(validateResumeState(made.events)).toMatchObject({
      canResume: false,
      pendingCalls: [{ requestId: 'q2' }],
    });
    made.append([
      {
        type: 'tool_input',
        by: 'user',
        invocationId: 'run',
        callId: 'run/r1.1',
        requestId: 'q2',
        input: 'yes',
      },
    ]);
    expect(validateResumeState(made.events)).toEqual({
      canResume: true,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [],
    });
  });

  test('says which loop waits for a message, until it has one', async () => {
    const made = await session('travel');
    const start = (path: string, name: string, kind: 'loop' | 'sequence', mode: 'root' | 'child') =>
      ({ type: 'invocation_start', by: 'runtime', invocationId: path, kind, name, mode }) as const;
    made.append([
      start('run', 'all', 'sequence', 'root'),
      start('run/chat', 'chat', 'loop', 'child'),
      { type: 'invocation_yield', by: 'runtime', invocationId: 'run/chat', reason: 'input' },
      { type: 'invocation_yield', by: 'runtime', invocationId: 'run', reason: 'input' },
    ]);
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [{ invocationId: 'run/chat', name: 'chat' }],
    });
    const other = made.forkAt(made.events.length);
    other.append([start('run/other', 'other', 'sequence', 'child')]);
    other.addMessage('Hello', 'run/other');
    expect(validateResumeState(other.events).canResume).toBe(false);
    made.addMessage('Hello', 'run/chat');
    expect(validateResumeState(made.events)).toEqual({
      canResume: true,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [],
    });
  });

  test('a session without an open run cannot be resumed', async () => {
    const made = await recorded();
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      pendingCalls: [],
      awaitingInput: [],
    });
    expect(validateResumeState([])).toEqual({
      canResume: false,
      pendingCalls: [],
      awaitingInput: [],
    });
    expect(validateResumeState(made.events.slice(0, -1))).toMatchObject({
      canResume: true,
      openRun: 'run',
    });
  });
});

/** A tool that stops the process, as it were, in the middle of its call. */
function interrupted(
  recovery: 'rerun' | 'report',
  keys: string[],
  entered: PromiseWithResolvers<void>,
) {
  return tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    recovery,
    execute: ({ idempotencyKey, signal }) => {
      keys.push(idempotencyKey);
      entered.resolve();
      return new Promise<string>((resolve) =>
        signal.addEventListener('abort', () => resolve('stopped')),
      );
    },
  });
}

describe('an attempt that is open in the prefix of a fork', () => {
  async function forkOfOpenCall(recovery: 'rerun' | 'report') {
    const keys: string[] = [];
    const entered = Promise.withResolvers<void>();
    const model = () =>
      scriptedModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'done' }]);
    const made = await session('travel');
    const first = run(
      agent({ name: 'payer', model: model(), tools: [interrupted(recovery, keys, entered)] }),
      { session: made, input: 'Pay' },
    );
    await entered.promise;
    first.stop();
    await expect(first).rejects.toMatchObject({ code: 'run_stopped' });
    const again: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.number() }),
      recovery,
      execute: ({ idempotencyKey }) => {
        again.push(idempotencyKey);
        return 'paid';
      },
    });
    const seq = seqOf(made.events, ({ type }) => type === 'tool_attempt');
    const fork = made.forkAt(seq);
    const result = await run(
      agent({ name: 'payer', model: scriptedModel([{ text: 'done' }]), tools: [pay] }),
      { session: fork },
    );
    return { keys, again, result, made, fork };
  }

  test('is run again under the recorded key when the tool may be run again', async () => {
    const { keys, again, result } = await forkOfOpenCall('rerun');
    expect(result).toMatchObject({ status: 'completed', toolCalls: [{ success: true }] });
    expect(again).toEqual(keys);
  });

  test('is of unknown outcome otherwise, and the tool is not run', async () => {
    const { again, result, fork } = await forkOfOpenCall('report');
    expect(result.status).toBe('completed');
    expect(again).toEqual([]);
    const outcome = fork.events.find((event) => event.type === 'tool_result');
    expect(outcome).toMatchObject({
      settled: true,
      effect: 'unknown',
      result: { status: 'unknown' },
    });
  });

  test(
    'leads to new calls with keys of the fork, also where original and fork make the same ' +
      'call',
    async () => {
      const keys: string[] = [];
      const pay = tool({
        name: 'pay',
        description: 'Pays',
        schema: z.object({}),
        execute: ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          return 'paid';
        },
      });
      const payer = () =>
        agent({
          name: 'payer',
          model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'done' }]),
          tools: [pay],
        });
      const made = await session('travel');
      const first = await run(payer(), { session: made, input: 'Pay', runId: 'run' });
      const fork = made.forkAt(
        seqOf(first.session.events, ({ type }) => type === 'invocation_start'),
      );
      await run(payer(), { session: fork });
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(2);
    },
  );
});

describe('a fork right behind a message', () => {
  const mirror = agent({
    name: 'mirror',
    model: scriptedModel((prompt) => ({
      text: `${prompt.length}: ${JSON.stringify(prompt.at(-1))}`,
    })),
  });

  test('has the message for the run that begins there', async () => {
    const app = runtime({ app: 'travel', runnables: [mirror] });
    await app.run(mirror, { session: 'talk', input: 'one' });
    const { session: talk, output } = await app.run(mirror, { session: 'talk', input: 'two' });
    expect(output).toMatch(/^3: .*two/);
    const at = talk.events.findLast(({ type }) => type === 'user')?.seq ?? Number.NaN;

    expect((await app.run(mirror, { session: talk.forkAt(at) })).output).toBe(output);
    expect(
      (await app.run(mirror, { session: await app.sessions.fork('talk', { at }) })).output,
    ).toBe(output);
    const elsewhere = await session.fromSnapshot(talk.forkAt(at).toJSON());
    expect((await run(mirror, { session: elsewhere })).output).toBe(output);
    expect((await run(mirror, { session: elsewhere, input: 'three' })).output).toMatch(
      /^5: .*three/,
    );
  });

  test('keeps it from an agent that sees nothing but its own', async () => {
    const alone = agent({
      name: 'alone',
      model: scriptedModel((prompt) => ({ text: String(prompt.length) })),
      context: [includeHistory({ scope: 'own' })],
    });
    const { session: talk } = await run(mirror, 'one');
    expect((await run(alone, { session: talk.forkAt(1), input: 'two' })).output).toBe('1');
  });
});
