import {
  type Agent,
  memoryStore,
  type Runtime,
  runtime,
  type Session,
  type Store,
  sequence,
  step,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import { recordedLedgerOf, replay } from 'adjutant/replay';
import type { LedgerStore } from 'adjutant/store';
import type { ScriptedModel } from 'adjutant/testing';
import { explain, transcript } from 'adjutant/views';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type StorePlace, storePlaces } from '../store-places.ts';
import { clerkOf } from './clerk.ts';

const textsOf = ({ prompt }: ScriptedModel['calls'][number]): readonly string[] =>
  prompt.flatMap((message) =>
    message.role === 'system'
      ? [message.content]
      : message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );

const seqOfSecondCall = ({ events }: Session): number =>
  events.filter(({ type }) => type === 'model_start')[1]?.seq ?? 0;

describe.each(storePlaces)('forks with edits on %s', (_name, make) => {
  let place: StorePlace;
  let store: Store;

  beforeEach(async () => {
    place = await make();
    store = place.open();
  });

  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  async function recorded(): Promise<{
    readonly app: Runtime;
    readonly session: Session;
    readonly model: ScriptedModel;
  }> {
    const { clerk, model } = clerkOf();
    const app = runtime({
      app: 'edited',
      store,
      runnables: [clerk],
      recover: 'manual',
    });
    const { session } = await app.run(clerk, { session: 's', input: 'Colour?', runId: 'run' });
    return { app, session, model };
  }

  async function goOn(app: Runtime, fork: Session, options: object = {}): Promise<Session> {
    expect((await app.resume(fork.id, options)).status).toBe('completed');
    return app.sessions.open({ id: fork.id });
  }

  async function expectReplays(fork: Session): Promise<void> {
    const today = runtime({ app: 'edited', store: memoryStore(), runnables: [clerkOf().clerk] });
    expect((await replay(recordedLedgerOf(fork), today)).divergence).toBeUndefined();
    await today.close();
  }

  test('begin with their edits, in one write with the fork', async () => {
    const { app, session } = await recorded();
    const at = seqOfSecondCall(session) - 1;
    const fork = await app.sessions.fork('s', {
      at,
      id: 'fork',
      by: 'operator:ann',
      edit: {
        state: [
          { key: 'mood', value: 'good' },
          { key: 'looks', delete: true },
        ],
        prompt: { instructions: 'You are a painter.', message: 'Which paint?' },
      },
    });
    expect(fork.events.slice(at)).toMatchObject([
      { type: 'decision', component: 'fork', by: 'operator:ann', data: { at, edits: 5 } },
      {
        type: 'decision',
        component: 'edit',
        decision: 'state',
        data: {
          changes: [
            { scope: 'session', key: 'mood' },
            { scope: 'session', key: 'looks' },
          ],
        },
      },
      {
        type: 'state_change',
        by: 'operator:ann',
        scope: 'session',
        source: 'mutation',
        changes: [
          { key: 'mood', newValue: 'good' },
          { key: 'looks', oldValue: 1 },
        ],
      },
      {
        type: 'decision',
        component: 'edit',
        decision: 'instructions',
        data: { agent: 'clerk', instructions: 'You are a painter.' },
      },
      { type: 'decision', component: 'edit', decision: 'message' },
      { type: 'user', by: 'operator:ann', text: 'Which paint?', invocationId: 'run' },
    ]);
    expect(fork.state).toMatchObject({ mood: 'good' });
    expect(fork.state).not.toHaveProperty('looks');
    expect((await app.sessions.stateAt('s')).sessionState).toEqual({ looks: 1 });
    await app.close();
  });

  test('show the next models another prompt, and replay to it', async () => {
    const { app, session, model } = await recorded();
    const fork = await app.sessions.fork('s', {
      at: seqOfSecondCall(session) - 1,
      edit: { prompt: { instructions: 'You are a painter.', message: 'Which paint?' } },
    });
    const done = await goOn(app, fork);
    const last = model.calls.at(-1);
    expect(last && textsOf(last)).toEqual(['You are a painter.', 'Which paint?']);
    const seq = done.events.findLast(({ type }) => type === 'model_start')?.seq ?? 0;
    expect(promptOf(done, seq).prompt).toEqual(last?.prompt);
    expect(
      transcript(done.events).flatMap((entry) => (entry.kind === 'user' ? [entry.text] : [])),
    ).toEqual(['Which paint?']);
    await expectReplays(done);
    await app.close();
  });

  test('hold for later runs, forks of the fork and other processes', async () => {
    const { app, session } = await recorded();
    await app.sessions.fork('s', {
      at: session.events.length,
      id: 'fork',
      edit: { prompt: { instructions: 'You are a painter.' } },
    });
    await app.sessions.fork('fork', {
      id: 'again',
      edit: { state: [{ key: 'mood', value: 'bad' }] },
    });
    const { clerk, model } = clerkOf();
    const other = runtime({ app: 'edited', store, runnables: [clerk] });
    await other.run(clerk, { session: 'again', input: 'And now?' });
    const told = textsOf(model.calls[0] as ScriptedModel['calls'][number]);
    expect(told).toContain('You are a painter.');
    expect(told).not.toContain('You are a clerk.');
    await other.run(clerk, { session: 's', input: 'And now?' });
    expect(textsOf(model.calls.at(-1) as ScriptedModel['calls'][number])).toContain(
      'You are a clerk.',
    );
    await expectReplays(await other.sessions.open({ id: 'again' }));
    await other.close();
    await app.close();
  });

  test('have a message answered in another form, forked at it', async () => {
    const { app, session, model } = await recorded();
    const at = session.events.find(({ type }) => type === 'user')?.seq ?? 0;
    const fork = await app.sessions.fork('s', { at, edit: { prompt: { message: 'Sound?' } } });
    const { clerk } = { clerk: app.runnables[0] as Agent };
    await app.run(clerk, { session: fork });
    expect(textsOf(model.calls[2] as ScriptedModel['calls'][number])).toEqual([
      'You are a clerk.',
      'Sound?',
    ]);
    await app.close();
  });

  test('are there with the fork, whenever its maker dies', async () => {
    const { session } = await recorded();
    // As if the process ended at the first write that follows the fork itself.
    const dying: Store = {
      ...store,
      for: (scope) =>
        new Proxy(store.for(scope), {
          get: (target, name: keyof LedgerStore) => {
            if (name === 'append' || name === 'claim')
              return () => Promise.reject(new Error('died'));
            const member = target[name] as (...args: unknown[]) => unknown;
            return member.bind(target);
          },
        }),
    };
    const app = runtime({
      app: 'edited',
      store: dying,
      runnables: [clerkOf().clerk],
      recover: 'manual',
    });
    const options = {
      at: seqOfSecondCall(session) - 1,
      id: 'fork',
      edit: { prompt: { instructions: 'You are a painter.', message: 'Which paint?' } },
    };
    await app.sessions.fork('s', options).catch(() => undefined);
    const { clerk, model } = clerkOf();
    const other = runtime({ app: 'edited', store, runnables: [clerk], recover: 'manual' });
    await goOn(other, await other.sessions.open({ id: 'fork' }));
    const [call] = model.calls;
    expect(call && textsOf(call)).toEqual(['You are a painter.', 'Which paint?']);
  });

  test('are explained', async () => {
    const { app, session } = await recorded();
    const fork = await app.sessions.fork('s', {
      at: seqOfSecondCall(session) - 1,
      edit: {
        state: [{ key: 'mood', value: 'good' }],
        prompt: { instructions: 'Paint.', message: 'Paint?' },
      },
    });
    const told = explain(fork).map(({ what }) => what);
    expect(told.slice(-4)).toEqual([
      'The session was made as a fork that keeps its writes to shared state to itself.',
      'The state of the fork was edited: mood.',
      'The fork was made with other instructions of "clerk".',
      expect.stringMatching(/^The fork was made with another text of the message #\d+\.$/),
    ]);
    await app.close();
  });

  test('hold for what begins after the fork, not for a step that had read the state', async () => {
    const told = (name: string, reads: boolean) =>
      step({
        name,
        execute: async (ctx) => {
          const before = reads ? ctx.state['mood'] : undefined;
          await ctx.call(step({ name: `in_${name}`, execute: () => undefined }));
          ctx.state[name] = [before ?? 'none', ctx.state['mood'] ?? 'none'].join();
        },
      });
    const both = sequence({ name: 'both', runnables: [told('first', true), told('second', true)] });
    const app = runtime({ app: 'edited', store, runnables: [both] });
    const { session } = await app.run(both, { session: 's', runId: 'run' });
    const at = session.invocationBoundary('run/first/in_first')?.endIndex;
    const inner = session.events.findLast(
      ({ type, invocationId }) =>
        type === 'invocation_end' && invocationId?.includes('in_first') === true,
    );
    const fork = await app.sessions.fork('s', {
      at: at ?? inner?.seq ?? 0,
      edit: { state: [{ key: 'mood', value: 'good' }] },
    });
    const done = await goOn(app, fork);
    expect(done.state).toMatchObject({ first: 'none,none', second: 'good,good' });
    await app.close();
  });

  test('keep edits of shared scopes to themselves', async () => {
    const { app } = await recorded();
    const made = await app.sessions.open({ id: 'ann', userId: 'ann' });
    (made.state['user'] as Record<string, unknown>)['theme'] = 'dark';
    await made.flush();
    const edit = { state: [{ scope: 'user', key: 'theme', value: 'light' }] };
    const fork = await app.sessions.fork('ann', { edit });
    expect((fork.state['user'] as Record<string, unknown>)['theme']).toBe('light');
    const fresh = await app.sessions.open({ userId: 'ann' });
    expect((fresh.state['user'] as Record<string, unknown>)['theme']).toBe('dark');
    await expect(app.sessions.fork('ann', { edit, shared: 'live' })).rejects.toMatchObject({
      code: 'invalid_run',
      message: expect.stringContaining('shared scope "user"'),
    });
    await app.close();
  });

  test('rebuilt rows of the list are those that were there', async () => {
    const { app, session } = await recorded();
    await app.sessions.fork('s', {
      at: seqOfSecondCall(session) - 1,
      id: 'fork',
      edit: { state: [{ key: 'mood', value: 'good' }] },
    });
    const before = (await app.sessions.list({ id: 'fork' })).sessions;
    await app.sessions.rebuild({ session: 'fork' });
    expect((await app.sessions.list({ id: 'fork' })).sessions).toEqual(before);
    await app.close();
  });
});
