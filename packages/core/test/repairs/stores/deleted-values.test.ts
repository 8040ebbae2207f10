import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import type { LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';

const scope = { tenant: 'default', app: 'shop' };
const large = `large ${'0123456789'.repeat(7_000)}`;

function inFile(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-a5-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return sqlite(join(folder, 'store.db'), { synchronous: 'normal' });
}

function inSchema(): Store {
  const schema = newSchema();
  const pool = newPool();
  onTestFinished(async () => {
    await pool.end();
    await schema.drop();
  });
  return postgres({ pool, schema: schema.name });
}

const keys = localKeys({ keys: [{ id: 'k', secret: 'a secret of a test, of 32 characters' }] });
const places: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memoryStore()],
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
  ['encrypted', () => encrypted(memoryStore(), { keys })],
];

const listener = agent({ name: 'listener', model: scriptedModel(() => ({ text: 'I see.' })) });

async function say(app: Runtime, session: string, input: string): Promise<void> {
  await app.run(listener, { session, input });
}

async function isThere(ledgers: LedgerStore): Promise<boolean> {
  // A put would bring it back, so it is looked for under the address that every session has.
  const address = addresses.get(ledgers);
  if (address === undefined) throw new Error('nothing was said yet');
  return ledgers.getBlob(address).then(
    () => true,
    () => false,
  );
}
const addresses = new Map<LedgerStore, string>();

describe.each(places)('on %s', (_, make) => {
  async function withApp(
    work: (app: Runtime, ledgers: LedgerStore) => Promise<void>,
  ): Promise<void> {
    const store = make();
    const app = runtime({ app: 'shop', store, recover: 'manual' });
    const ledgers = store.for(scope);
    try {
      await say(app, 's', large);
      const text = JSON.stringify((await app.sessions.open({ id: 's' })).events);
      addresses.set(ledgers, /"\$blob":"([0-9a-f]{64})"/.exec(text)?.[1] ?? '');
      expect(await isThere(ledgers)).toBe(true);
      await work(app, ledgers);
    } finally {
      await app.close();
      await store.close();
    }
  }

  test('A5: large values are gone when their session is', () =>
    withApp(async (app, ledgers) => {
      await app.sessions.delete('s');
      expect(await isThere(ledgers)).toBe(false);
    }));

  test('A5: they stay for as long as another session or a fork has them', () =>
    withApp(async (app, ledgers) => {
      await say(app, 't', large);
      await app.sessions.fork('s', { id: 'f' });
      await app.sessions.delete('s');
      await app.sessions.delete('t');
      expect(await isThere(ledgers)).toBe(true);
      await app.sessions.delete('f');
      expect(await isThere(ledgers)).toBe(false);
    }));

  test('A5: they are gone with all forks when the session is erased', () =>
    withApp(async (app, ledgers) => {
      await app.sessions.fork('s', { id: 'f' });
      await app.sessions.erase('s');
      expect(await isThere(ledgers)).toBe(false);
    }));

  test('A5: a run that says the same meanwhile loses nothing', () =>
    withApp(async (app, ledgers) => {
      const runs = Array.from({ length: 4 }, (_each, i) => say(app, `t${i}`, large));
      await app.sessions.delete('s');
      await Promise.all(runs);
      expect(await isThere(ledgers)).toBe(true);
      const opened = await app.sessions.open({ id: 't3' });
      expect(
        opened.events.map((event) => event.type === 'user' && opened.ledger.resolve(event.text)),
      ).toContain(large);
    }));
});
