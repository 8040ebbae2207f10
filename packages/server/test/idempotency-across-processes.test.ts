import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryStore, runtime, type Store } from 'adjutant';
import { StoreUnavailableError } from 'adjutant/errors';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { server } from '../src/index.ts';
import { payer, payTool, send, waitingServer } from './approvals/paying-app.ts';
import { isReplayed, key, seen } from './repeated-writes.ts';

const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('in other processes', () => {
  test('the answer is known, also after a restart', async () => {
    const file = join(folder, 'restart.db');
    const { api, app, requestId } = await waitingServer({ store: sqlite(file) });
    const path = `/v1/approvals/${requestId}`;
    const first = await send(api, 'POST', path, { decision: 'approve' }, key('k'));
    await api.close();
    await app.close();
    const { pay } = payTool();
    const next = runtime({
      app: 'shop',
      store: sqlite(file),
      runnables: [payer(pay, [])],
      recover: 'manual',
    });
    const restarted = server(next);
    const again = await send(restarted, 'POST', path, { decision: 'approve' }, key('k'));
    expect([seen(again), isReplayed(again)]).toEqual([seen(first), true]);
    await restarted.close();
    await next.close();
  });

  test('a request that is under way is not carried out a second time', async () => {
    const memory = memoryStore();
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    // The post of the answer takes long.
    const post = (): Promise<void> => {
      entered.resolve();
      return gate.promise;
    };
    const slow = around(memory, 'shop', { post });
    const { api, make, requestId, paid, app, session } = await waitingServer({ store: slow });
    const path = `/v1/approvals/${requestId}`;
    const first = send(api, 'POST', path, { decision: 'approve' }, key('k'));
    await entered.promise;
    for (const other of [api, server(make())]) {
      const meanwhile = await send(other, 'POST', path, { decision: 'approve' }, key('k'));
      expect(meanwhile).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } });
      expect(meanwhile.headers.get('retry-after')).toBe('1');
      expect((await send(other, 'POST', path, { decision: 'reject' }, key('k'))).status).toBe(422);
    }
    gate.resolve();
    expect((await first).status).toBe(200);
    expect(isReplayed(await send(api, 'POST', path, { decision: 'approve' }, key('k')))).toBe(true);
    await app.resume(session);
    expect(paid).toHaveLength(1);
  });

  test.each(['answer', 'session', 'run', 'batch'])(
    'a crash between the effect and the answer makes no second %s',
    async (what) => {
      const clock = testClock();
      const memory = memoryStore({ clock });
      // From the answer on nothing is written by the process any more, and its lease stays.
      const dying = around(memory, 'shop:http', {
        append: async ({ events }) => {
          if (events.some((event) => event.type === 'decision' && event.decision === 'answer'))
            throw new StoreUnavailableError({ store: 'memory', reason: 'gone' });
        },
        release: () =>
          Promise.reject(new StoreUnavailableError({ store: 'memory', reason: 'gone' })),
      });
      const ports = { ports: { clock } };
      const { api, app, requestId, paid, session } = await waitingServer({
        store: dying,
        runtime: ports,
        server: { ...ports, onError: () => undefined },
      });
      const next = server(
        runtime({
          app: 'shop',
          store: memory,
          runnables: [...app.runnables],
          recover: 'manual',
          ...ports,
        }),
        ports,
      );
      const [path, body] = {
        answer: [`/v1/approvals/${requestId}`, { decision: 'approve' }],
        batch: ['/v1/approvals', { answers: [{ requestId, decision: 'approve' }] }],
        session: ['/v1/sessions', {}],
        run: ['/v1/runs', { agent: 'payer', input: 'Pay' }],
      }[what] as [string, object];
      const first = await send(api, 'POST', path, body, key('k'));
      expect(first.status).toBeLessThan(300);
      const made = (await app.sessions.list()).sessions.length;
      expect((await send(next, 'POST', path, body, key('k'))).body.code).toBe(
        'idempotency_key_in_use',
      );
      clock.advance(16_000);
      const second = await send(next, 'POST', path, body, key('k'));
      expect([second.status, isReplayed(second), second.headers.get('location')]).toEqual([
        first.status,
        false,
        first.headers.get('location'),
      ]);
      if (what === 'batch') expect(second.body).toEqual(first.body);
      expect((await app.sessions.list()).sessions.length).toBe(made);
      expect(isReplayed(await send(next, 'POST', path, body, key('k')))).toBe(true);
      if (what === 'answer' || what === 'batch') await app.resume(session);
      expect(paid).toHaveLength(what === 'answer' || what === 'batch' ? 1 : 0);
    },
  );

  test(
    'a process that is killed between the effect and the answer makes no second session, and ' +
      'nobody waits for it',
    async () => {
      const file = join(folder, 'killed.db');
      const script = fileURLToPath(new URL('./dying-writer.ts', import.meta.url));
      const child = spawn(process.execPath, [script, file, 'k'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      const app = runtime({ app: 'shop', store: sqlite(file), recover: 'manual' });
      const api = server(app);
      const [made] = (await app.sessions.list()).sessions;
      expect((await send(api, 'POST', '/v1/sessions', {}, key('k'))).body.code).toBe(
        'idempotency_key_in_use',
      );
      child.kill('SIGKILL');
      await once(child, 'close');
      const { status, body } = await send(api, 'POST', '/v1/sessions', {}, key('k'));
      expect([status, body.id]).toEqual([201, made?.id]);
      expect((await app.sessions.list()).sessions).toHaveLength(1);
      expect(isReplayed(await send(api, 'POST', '/v1/sessions', {}, key('k')))).toBe(true);
      await api.close();
      await app.close();
    },
  );

  test('what went wrong inside is not kept', async () => {
    const memory = memoryStore();
    let isDown = true;
    const store = around(memory, 'shop', {
      post: async () => {
        if (isDown) throw new StoreUnavailableError({ store: 'memory', reason: 'down' });
      },
    });
    const { api, requestId } = await waitingServer({ store, server: { onError: () => undefined } });
    const path = `/v1/approvals/${requestId}`;
    expect((await send(api, 'POST', path, { decision: 'approve' }, key('k'))).status).toBe(503);
    isDown = false;
    expect((await send(api, 'POST', path, { decision: 'approve' }, key('k'))).status).toBe(200);
  });
});

/** A store that does something before it writes in the ledgers of one app. */
function around(
  store: Store,
  app: string,
  before: {
    post?: () => Promise<void>;
    append?: (batch: { events: readonly { type: string; decision?: unknown }[] }) => Promise<void>;
    release?: () => Promise<never>;
  },
): Store {
  return {
    ...store,
    for: (scope) => {
      const ledgers = store.for(scope);
      if (scope.app !== app) return ledgers;
      return new Proxy(ledgers, {
        get(target, name) {
          const method = Reflect.get(target, name) as (...given: unknown[]) => unknown;
          const own = (
            before as Record<
              string | symbol,
              ((...given: unknown[]) => Promise<unknown>) | undefined
            >
          )[name];
          if (own === undefined) return method.bind(target);
          return async (...given: unknown[]) => {
            await own(...(name === 'append' ? [given[2]] : []));
            return method.apply(target, given);
          };
        },
      });
    },
  };
}
