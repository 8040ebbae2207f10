import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, memoryStore, runtime, type Store, step, tool } from 'adjutant';
import { archiveSession, restoreArchive } from 'adjutant/replay';
import { sqlite } from 'adjutant/sqlite';
import { roundModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const large = 'x'.repeat(100_000);
const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({}),
  execute: () => ({ large }),
});
const clerk = agent({
  name: 'clerk',
  model: roundModel([{ toolCalls: [{ name: 'look' }] }, { text: 'It is on its way.' }]),
  tools: [look],
});
const asking = step({
  name: 'asking',
  execute: async (ctx) => ctx.complete(await ctx.ask('which', 'Which one?')),
});

const folder = (): string => mkdtempSync(join(tmpdir(), 'adjutant-archive-'));

/** An app with a session whose run has ended, and its events. */
async function shop(store: Store) {
  const app = runtime({ app: 'shop', store, runnables: [clerk, asking], recover: 'manual' });
  onTestFinished(() => app.close());
  await app.run(clerk, { session: 'done', input: 'Where is my order?' });
  const events = async () => {
    const found: object[] = [];
    for await (const event of app.sessions.events('done')) found.push(event);
    return found;
  };
  const ids = async () => (await app.sessions.list()).sessions.map(({ id }) => id);
  return { app, events, ids, path: join(folder(), 'done.jsonl') };
}

const stores: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memoryStore()],
  ['sqlite', () => sqlite(join(folder(), 'shop.db'))],
];

describe.each(stores)('an archive of a session in %s', (_, make) => {
  test('takes it out of the store, and brings it back as it was', async () => {
    const { app, events, ids, path } = await shop(make());
    const before = await events();
    const [listed] = (await app.sessions.list()).sessions;
    expect(await archiveSession(app, 'done', path)).toEqual({
      ...{ session: 'done', events: before.length, blobs: 1 },
    });
    expect(await ids()).toEqual([]);

    expect(await restoreArchive(app, path)).toMatchObject({ events: before.length });
    expect(await events()).toEqual(before);
    expect((await app.sessions.list()).sessions).toMatchObject([
      { id: 'done', status: 'completed', title: listed?.title, seq: before.length },
    ]);
    // It can be gone on with, large values included.
    const { session } = await app.run(clerk, { session: 'done', input: 'And now?' });
    expect(JSON.stringify(session.events)).toContain('And now?');
    await expect(restoreArchive(app, path)).rejects.toMatchObject({ code: 'session_exists' });
  });

  test('is refused while the session has work to do, and nothing has changed then', async () => {
    const { app, ids, path } = await shop(make());
    await app.run(asking, { session: 'open', input: 'Hi' });
    await expect(archiveSession(app, 'open', path)).rejects.toMatchObject({
      code: 'archive_refused',
      data: { session: 'open', reason: 'its status is "awaiting_input"' },
    });
    expect(existsSync(path)).toBe(false);
    expect(await ids()).toContain('open');
    // It is free again.
    await app.store.for({ tenant: 'default', app: 'shop' }).claim('open', 'me', { ttlMs: 1_000 });
    await expect(archiveSession(app, 'open', path)).rejects.toMatchObject({
      code: 'session_busy',
    });
    await expect(archiveSession(app, 'none', path)).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });

  test('never replaces a file, and keeps the session when none can be written', async () => {
    const { app, ids, path } = await shop(make());
    writeFileSync(path, 'mine');
    await expect(archiveSession(app, 'done', path)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    const nowhere = join(path, 'none', 'done.jsonl');
    await expect(archiveSession(app, 'done', nowhere)).rejects.toThrow('ENOTDIR');
    expect(await ids()).toEqual(['done']);
  });

  test('goes on where a restore was interrupted', async () => {
    const { app, events, path } = await shop(make());
    const before = await events();
    await archiveSession(app, 'done', path);
    const ledgers = app.store.for({ tenant: 'default', app: 'shop' });
    const { epoch } = await ledgers.claim('done', 'gone', { ttlMs: 1 });
    const first = JSON.parse(readFileSync(path, 'utf8').split('\n')[2] ?? '').event;
    await ledgers.append('done', { seq: 0, epoch }, { events: [first] });
    await ledgers.release({ session: 'done', owner: 'gone', epoch } as never);
    await restoreArchive(app, path);
    expect(await events()).toEqual(before);
  });
});

test('a file that is none, that was changed or is newer is refused', async () => {
  const { app, ids, path } = await shop(memoryStore());
  await archiveSession(app, 'done', path);
  const text = readFileSync(path, 'utf8');
  const refused = async (changed: string) => {
    writeFileSync(path, changed);
    const error = await restoreArchive(app, path).catch((thrown: unknown) => thrown);
    expect(await ids()).toEqual([]);
    return (error as { code?: string }).code;
  };
  expect(await refused('hello')).toBe('invalid_ledger_file');
  expect(await refused('{}\n{}\n')).toBe('invalid_ledger_file');
  expect(await refused(text.replace('on its way', 'on my way'))).toBe('invalid_ledger_file');
  expect(await refused(text.slice(0, text.length / 2))).toBe('invalid_ledger_file');
  expect(await refused(text.replace('"version":1', '"version":2'))).toBe('ledger_file_too_new');
});
