import {
  type Event,
  type ForkOptions,
  isAdjutantError,
  memoryStore,
  type Runtime,
  runtime,
} from 'adjutant';
import { recordedLedgerOf } from 'adjutant/replay';
import {
  type CrashManner,
  type MakeScenario,
  openInvocations,
  runWhole,
  tickingClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { scenarios } from '../crash/scenarios.ts';
import { appOf, problemOf, runnablesOf, stoppedRuns } from '../replay/recorded-runs.ts';

/** Every so many-th place is taken. */
const every = 9;
const manners: readonly CrashManner[] = ['copied', 'given-back', 'before', 'after', 'twice'];

/** Lets somebody answer all that a session asks, until nothing of it is open. */
async function answered(
  app: Runtime,
  id: string,
  { answers, message, cancelWhen, interruptWhen }: ReturnType<MakeScenario>,
): Promise<void> {
  void cancelWhen
    ?.then(() => app.cancel(id, { by: 'operator', reason: 'enough' }))
    .catch(() => undefined);
  void interruptWhen?.then(() => app.interrupt(id, { by: 'user:ann' })).catch(() => undefined);
  for (let turn = 0; turn < 50; turn++) {
    const { events } = await app.sessions.open({ id, observe: false });
    const running = app.resume(id, laneOf(events));
    const { session, pendingCalls, awaitingInput, yieldedInvocationId } = await running;
    await running.settled();
    await session.flush();
    if (openInvocations(session.events).length === 0) return;
    for (const pending of pendingCalls.filter(({ accepted }) => !accepted)) {
      const answer = typeof answers === 'function' ? answers(pending) : answers?.[pending.name];
      const by = 'user:ann';
      if (typeof answer === 'string') await app.send(id, answer, { by });
      else await app.requests.answer(pending.requestId, { by, ...answer });
    }
    if (pendingCalls.length === 0 && awaitingInput && message !== undefined) {
      session.addMessage(
        message(session.events.filter(({ type }) => type === 'user').length),
        yieldedInvocationId,
      );
      await session.flush();
    }
  }
}

/** The lane of the first run that is open. */
function laneOf(events: readonly Event[]): { readonly lane?: string } {
  const open = openInvocations(events)[0]?.split(/[/>]/)[0];
  const start = events.find(
    (event) => event.type === 'invocation_start' && event.invocationId === open,
  );
  return start?.type === 'invocation_start' && start.lane !== undefined ? { lane: start.lane } : {};
}

/** Makes the fork at a place, with as many of the edits as it can have there. */
async function forked(app: Runtime, at: number, isEdited: boolean): Promise<void> {
  const fork = (edit: ForkOptions['edit'] = {}) =>
    app.sessions.fork('the-session', { at, id: 'fork', edit });
  const prompts = [
    { instructions: 'Go on as before.', message: 'Go on, please.' },
    { instructions: 'Go on as before.' },
    { message: 'Go on, please.' },
  ];
  const state = [{ key: 'edited', value: at }];
  for (const prompt of isEdited ? prompts : []) {
    const made = await fork({ state, prompt }).catch((error: unknown) => {
      if (!isAdjutantError(error, 'invalid_run')) throw error;
    });
    if (made !== undefined) return;
  }
  await fork(isEdited ? { state } : {});
}

describe.each(Object.entries(scenarios))('%s', (_name, make) => {
  test('does what it did', async () => {
    const { events } = await runWhole(make);
    const record = {
      app: make().app?.app ?? 'crash-points',
      tenant: 'default',
      session: 'the-session',
      events,
      blobs: {},
    };
    expect(await problemOf(record, appOf(make))).toBeUndefined();
  });

  test.each(manners)('does what it did when it was stopped and continued: %s', async (manner) => {
    const problems: string[] = [];
    let replays = 0;
    for await (const { name, record } of stoppedRuns(make, manner, every)) {
      replays++;
      const problem = await problemOf(record, appOf(make));
      if (problem !== undefined) problems.push(`${name}: ${problem}`);
    }
    expect(problems).toEqual([]);
    expect(replays).toBeGreaterThan(0);
  });

  test.each(['forked', 'forked with edits'])(
    'does what it did when it was %s and continued',
    async (manner) => {
      const { events } = await runWhole(make);
      const problems: string[] = [];
      for (let at = 3; at < events.length - 1; at += every) {
        const scenario = make();
        const { app: options = {} } = scenario;
        const runnables = runnablesOf(scenario);
        // As long after the run as it takes for nothing of it to be waited for.
        const ports = { clock: tickingClock((events.at(-1)?.at ?? 0) + 3_600_000) };
        const app = runtime({
          app: 'crash-points',
          ...options,
          store: memoryStore(),
          runnables,
          recover: 'manual',
          ports,
        });
        await app.sessions.restore({ app: app.app, id: 'the-session', events });
        await forked(app, at, manner === 'forked with edits');
        const fork = await app.sessions.open({ id: 'fork' });
        if (openInvocations(fork.events).length > 0) await answered(app, 'fork', scenario);
        const problem = await problemOf(
          recordedLedgerOf(await app.sessions.open({ id: 'fork' })),
          appOf(make),
        );
        if (problem !== undefined) problems.push(`forked at event ${at}: ${problem}`);
        await app.close();
      }
      expect(problems).toEqual([]);
    },
  );
});
