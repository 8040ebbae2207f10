import { agent, run, runtime, sequence, session, step, tool } from 'adjutant';
import { includeHistory } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { recorded, seqOf, userOf } from './recorded-session.ts';

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
