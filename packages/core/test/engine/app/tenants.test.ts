import { createHook } from 'node:async_hooks';
import {
  agent,
  memoryStore,
  type Run,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../../pay-tool.ts';

const apps: Runtime[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function open(options: Partial<RuntimeOptions> = {}): Runtime {
  const app = runtime({ app: 'clinic', store: memoryStore(), recover: 'manual', ...options });
  apps.push(app);
  return app;
}

/** A step that waits until it is told to go on, however often it runs. */
function holding(name = 'hold') {
  const goOn = Promise.withResolvers<void>();
  let begun = 0;
  const runnable = step({
    name,
    execute: async (ctx) => {
      begun++;
      const aborted = new Promise<never>((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
      );
      await Promise.race([goOn.promise, aborted]);
      return ctx.complete('held');
    },
  });
  return { runnable, begun: () => begun, goOn: () => goOn.resolve() };
}

const say = step({ name: 'say', execute: (ctx) => ctx.complete('said') });
const paying = () =>
  agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
    tools: [payTool().pay],
  });

async function statusIn(store: Store, tenant: string, session = 's'): Promise<string | undefined> {
  const [listing] = await store.for({ tenant, app: 'clinic' }).list({ id: session });
  return listing?.status;
}

describe('a runtime for a tenant', () => {
  test('is the same one for the same name, and of the same app', () => {
    const app = open();
    const acme = app.tenants.get('acme');
    expect(app.tenants.get('acme')).toBe(acme);
    expect(acme.tenants.get('acme')).toBe(acme);
    expect(acme.tenants.get('default')).toBe(app);
    expect(app.tenants.get('default')).toBe(app);
    expect(acme.tenants.get('other')).toBe(app.tenants.get('other'));
    expect([acme.app, acme.tenant, acme.store, acme.tools, acme.recovery.isAutomatic]).toEqual([
      'clinic',
      'acme',
      app.store,
      app.tools,
      false,
    ]);
  });

  test('has a name', () => {
    for (const name of ['', 7, undefined])
      expect(() => open().tenants.get(name as never)).toThrow(
        expect.objectContaining({ code: 'invalid_runtime' }),
      );
    expect(() => runtime({ app: 'clinic', tenants: 'acme' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_runtime' }),
    );
  });

  test(
    'has sessions, shared scopes and requests of its own, and reaches none ' + 'of others',
    async () => {
      const app = open();
      const [acme, other] = [app.tenants.get('acme'), app.tenants.get('other')];
      const waiting = await acme.run(paying(), { session: 's', input: 'Pay' });
      const [request] = await acme.requests.listPendingApprovals();
      const requestId = request?.requestId ?? '';
      expect(waiting.status).toBe('yielded');
      for (const stranger of [app, other]) {
        expect((await stranger.sessions.list()).sessions).toEqual([]);
        expect(await stranger.requests.listPendingApprovals()).toEqual([]);
        await expect(stranger.requests.approve(requestId)).rejects.toMatchObject({
          code: 'request_not_found',
        });
        await expect(stranger.resume('s')).rejects.toMatchObject({ code: 'session_not_found' });
        await expect(stranger.cancel('s')).rejects.toMatchObject({ code: 'session_not_found' });
        await expect(stranger.sessions.delete('s')).rejects.toMatchObject({
          code: 'session_not_found',
        });
      }
      await expect(other.requests.list({ tenant: 'acme' })).rejects.toMatchObject({
        code: 'invalid_runtime',
      });
      const mine = await other.sessions.open({ id: 's', userId: 'ann' });
      (mine.state['user'] as Record<string, unknown>)['theme'] = 'dark';
      await mine.flush();
      await mine.ledger.release();
      expect({
        ...((await acme.sessions.open({ id: 't', userId: 'ann' })).state['user'] as object),
      }).toEqual({});
      await acme.requests.approve(requestId);
      expect(await acme.resume('s')).toMatchObject({ status: 'completed' });
      expect(await statusIn(app.store, 'other')).toBe('active');
    },
  );

  test('refuses a session of another tenant', async () => {
    const app = open();
    const session = await app.tenants.get('acme').sessions.open({ id: 's' });
    for (const stranger of [app, app.tenants.get('other')]) {
      expect(() => stranger.run(say, { session })).toThrow('the tenant "acme"');
      await expect(stranger.sessions.reopen(session, { reason: 'again' })).rejects.toMatchObject({
        code: 'invalid_run',
      });
    }
    expect(await app.tenants.get('acme').run(say, { session })).toMatchObject({ output: 'said' });
  });

  test('works on a session whose id others work on', async () => {
    const app = open();
    const { runnable, begun, goOn } = holding();
    const names = ['default', 'acme', 'other'];
    const runs = names.map((name) =>
      app.tenants.get(name).run(runnable, { session: 's', runId: 'r', input: name }),
    );
    await eventually(() => begun() === 3);
    goOn();
    for (const [i, run] of runs.entries()) {
      const { session, status } = await run;
      expect(status).toBe('completed');
      expect(
        session.events.flatMap((event) => (event.type === 'user' ? [event.text] : [])),
      ).toEqual([names[i]]);
    }
  });

  test('knows what any of them has registered at run time', async () => {
    const app = open();
    const acme = app.tenants.get('acme');
    await acme.run(say, { session: 's' });
    expect(app.runnables.map(({ name }) => name)).toEqual(['say']);
    app.tools.add(
      tool({
        name: 'clock',
        description: 'Tells the time',
        schema: z.object({}),
        execute: () => 'noon',
      }),
    );
    const asking = agent({
      name: 'asking',
      model: roundModel([{ toolCalls: [{ name: 'clock', args: {} }] }, { text: 'done' }]),
      tools: [],
    });
    const { session } = await app.tenants.get('other').run(asking, 'When?');
    expect(session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { content: 'noon' },
    });
  });
});

describe('closing', () => {
  test(
    'the runtime of one tenant gives back its runs only, and leaves the ' + 'store open',
    async () => {
      const app = open();
      const { runnable, begun, goOn } = holding();
      const [mine, others] = ['acme', 'other'].map((name) =>
        app.tenants.get(name).run(runnable, { session: 's' }),
      ) as [Run, Run];
      await eventually(() => begun() === 2);
      const closed = app.tenants.get('acme').close();
      await expect(mine).rejects.toMatchObject({ code: 'run_stopped' });
      await closed;
      goOn();
      expect(await others).toMatchObject({ status: 'completed' });
      expect(await app.tenants.get('acme').resume('s')).toMatchObject({ status: 'completed' });
    },
  );

  test('the runtime that they came from closes them all, and the store', async () => {
    const app = open();
    const { runnable, begun } = holding();
    const runs = ['default', 'acme', 'other'].map((name) =>
      app.tenants.get(name).run(runnable, { session: 's' }),
    );
    await eventually(() => begun() === 3);
    await app.close();
    for (const run of runs) await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    await expect(app.tenants.get('acme').sessions.list()).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});

describe('what has stopped', () => {
  /** A store in which a run of each tenant, and of another app, has stopped. */
  async function interrupted() {
    const store = memoryStore();
    const { runnable, begun } = holding('work');
    const first = runtime({ app: 'clinic', store, recover: 'manual' });
    const foreign = runtime({ app: 'shop', tenant: 'acme', store, recover: 'manual' });
    const runs = [
      ...['default', 'acme', 'other'].map((name) => first.tenants.get(name)),
      foreign,
    ].map((app) => app.run(runnable, { session: 's' }));
    await eventually(() => begun() === 4);
    for (const run of runs) run.stop();
    for (const run of runs) await run.settled();
    return store;
  }

  const work = step({ name: 'work', execute: (ctx) => ctx.complete('worked') });
  const restarted = (store: Store, options: Partial<RuntimeOptions> = {}): Runtime =>
    open({ store, runnables: [work], recover: 'auto', ...options });

  test('is continued for all tenants of the app when it is to look after them', async () => {
    const store = await interrupted();
    restarted(store, { tenants: true });
    const done = new Set<string>();
    for (const tenant of ['default', 'acme', 'other']) {
      for await (const event of store
        .for({ tenant, app: 'clinic' })
        .follow('s', 0, new AbortController().signal)) {
        if (event.type === 'invocation_end') break;
      }
      done.add(tenant);
    }
    expect(done.size).toBe(3);
    expect(await store.admin.due()).toEqual([{ tenant: 'acme', app: 'shop', session: 's' }]);
  });

  test('is left to others by a runtime for one tenant, until it is asked for another', async () => {
    const store = await interrupted();
    const app = restarted(store, { recover: 'manual' });
    expect(
      (await Promise.all(await app.recovery.resumeStopped())).map(
        ({ session }) => session.ledger.ports.scope.tenant,
      ),
    ).toEqual(['default']);
    expect(await app.recovery.resumeStopped()).toEqual([]);
    expect(await store.admin.due()).toHaveLength(3);
    expect(
      (await Promise.all(await app.tenants.get('acme').recovery.resumeStopped())).map(
        ({ session }) => session.ledger.ports.scope.tenant,
      ),
    ).toEqual(['acme']);
    expect(
      (await Promise.all(await app.recovery.resumeStopped())).map(
        ({ session }) => session.ledger.ports.scope.tenant,
      ),
    ).toEqual(['other']);
  });

  test(
    'is continued by itself for all from the first time that a tenant is ' + 'asked for',
    async () => {
      const store = await interrupted();
      const app = restarted(store);
      await eventually(app.resume('s'));
      expect(await store.admin.due({ app: 'clinic' })).toHaveLength(2);
      app.tenants.get('new');
      for (const tenant of ['acme', 'other']) {
        for await (const event of store
          .for({ tenant, app: 'clinic' })
          .follow('s', 0, new AbortController().signal)) {
          if (event.type === 'invocation_end') break;
        }
      }
      expect(await statusIn(store, 'acme')).toBe('completed');
    },
  );

  test('goes on when it is answered, in whatever tenant', async () => {
    const app = open({ recover: 'auto', runnables: [paying()] });
    const acme = app.tenants.get('acme');
    await acme.run(paying(), { session: 's', input: 'Pay' });
    const [request] = await acme.requests.listPendingApprovals();
    await acme.requests.approve(request?.requestId ?? '');
    for await (const event of acme.follow('s')) if (event.type === 'invocation_end') break;
    expect(await statusIn(app.store, 'acme')).toBe('completed');
  });

  test('is left alone after its tenant was closed, until that is asked for again', async () => {
    const store = await interrupted();
    const app = restarted(store, { recover: 'manual', tenants: true });
    await app.tenants.get('acme').close();
    expect(
      (await Promise.all(await app.recovery.resumeStopped()))
        .map(({ session }) => session.ledger.ports.scope.tenant)
        .sort(),
    ).toEqual(['default', 'other']);
    expect(await app.recovery.resumeStopped()).toEqual([]);
    app.tenants.get('acme');
    expect(await app.recovery.resumeStopped()).toHaveLength(1);
  });
});

test('thousands of tenants have no timers', () => {
  const app = open({ recover: 'auto' });
  let timers = 0;
  const init = (_id: number, type: string): void => {
    if (type === 'Timeout') timers++;
  };
  const hook = createHook({ init }).enable();
  for (let i = 0; i < 5_000; i++) app.tenants.get(`t${i}`);
  hook.disable();
  expect(timers).toBeLessThan(10);
});
