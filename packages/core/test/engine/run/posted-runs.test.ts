import { type JsonValue, memoryStore, runtime, step } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { dispatching } from '../../dispatching.ts';

/** Two processes of an app; what the root dispatches goes on until the gate opens. */
function twoProcesses() {
  const { gate, child, parent } = dispatching();
  const store = memoryStore();
  const second = step({
    name: 'second',
    execute: (ctx) => ctx.complete(`ran with ${JSON.stringify(ctx.input ?? null)}`),
  });
  const process = () =>
    runtime({ app: 'behind', store, runnables: [parent, child, second], recover: 'manual' });
  return {
    gate,
    parent,
    second,
    store: store.for({ tenant: 'default', app: 'behind' }),
    here: process(),
    there: process(),
  };
}

describe(
  'a run that is left for a process whose run has ended, and only what that dispatched goes ' +
    'on',
  () => {
    test.each<[string, { readonly input?: string; readonly data?: JsonValue }]>([
      ['a message', { input: 'Go' }],
      ['data', { data: { a: 1 } }],
    ])('is a run of its own: %s', async (_what, asked) => {
      const { gate, parent, second, store, here, there } = twoProcesses();
      const first = here.run(parent, { session: 's', runId: 'first', input: 'Begin' });
      await first;
      const run = there.run(second, { session: 's', runId: 'second', ...asked });
      expect(await run.accepted()).toEqual({ session: 's', runId: 'second' });
      // Its holder looks at it before it gives the session back.
      gate.resolve();
      await first.settled();
      const result = await run;
      expect(result).toMatchObject({ runId: 'second', status: 'completed' });
      expect(result.session.events.filter(({ type }) => type === 'decision')).toEqual([]);
      expect(await store.inbox('s')).toEqual([]);
      await Promise.all([here.close(), there.close()]);
    });

    test(
      'cannot be cancelled before it has begun, and the ledger says that ' + 'this is why',
      async () => {
        const { gate, parent, second, here, there } = twoProcesses();
        const first = here.run(parent, { session: 's', runId: 'first', input: 'Begin' });
        await first;
        const run = there.run(second, { session: 's', runId: 'second', input: 'Go' });
        await run.accepted();
        await there.cancel('s', { runId: 'second' });
        gate.resolve();
        await first.settled();
        const { session } = await run;
        const refusals = session.events.flatMap((event) =>
          event.type === 'decision' ? [event.reasoning] : [],
        );
        expect(refusals).toEqual(['The run "second" had not begun when it was to be cancelled.']);
        await Promise.all([here.close(), there.close()]);
      },
    );

    test(
      'is begun by recovery when whoever asked for it is gone, and what was dispatched goes on ' +
        'with it',
      async () => {
        const { gate, parent, second, here, there } = twoProcesses();
        const first = here.run(parent, { session: 's', runId: 'first', input: 'Begin' });
        await first;
        const run = there.run(second, { session: 's', runId: 'second', input: 'Go' });
        run.catch(() => undefined);
        await run.accepted();
        run.stop();
        await run.settled();
        first.stop();
        await first.settled();
        const [found] = await there.recovery.resumeStopped();
        gate.resolve();
        expect(await found).toMatchObject({ runId: 'second', status: 'completed' });
        await found?.settled();
        const ends = (await there.sessions.open({ id: 's' })).events.flatMap((event) =>
          event.type === 'invocation_end' ? [event.invocationId.split('#')[0]] : [],
        );
        expect(ends.sort()).toEqual(['first', 'first/child', 'second']);
        expect(await there.recovery.resumeStopped()).toEqual([]);
        await Promise.all([here.close(), there.close()]);
      },
    );
  },
);
