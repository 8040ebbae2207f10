import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encrypted, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { write } from './ledger-writer.ts';
import { firstKey, scope, secondKey, textsOf } from './places.ts';

let directory: string;
let children: ChildProcess[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-encrypted-'));
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  rmSync(directory, { recursive: true, force: true });
});

/** Asks until it is so; the time of the test is the limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

const storePath = (): string => join(directory, 'store.db');

/** Runs a script in another Node process, with `store`, `ledgers` and `note` at hand. */
function inOtherProcess(script: string): ChildProcess {
  const head = `
    import { encrypted, localKeys } from 'adjutant/encryption';
    import { sqlite } from 'adjutant/sqlite';
    const store = encrypted(sqlite(${JSON.stringify(storePath())}), { keys: localKeys({ keys: ${JSON.stringify([secondKey, firstKey])} }) });
    const ledgers = store.for(${JSON.stringify(scope)});
    const note = (seq) => ({ v: 1, seq, id: process.pid + '.' + seq, at: 1, type: 'user', by: 'user', text: 'n' + seq });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${head}\n${script}`], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

describe('a process that is killed', () => {
  test('while it writes, forks and rotates leaves everything that was confirmed to the next one', {
    timeout: 60_000,
  }, async () => {
    const child = inOtherProcess(`
      const { epoch } = await ledgers.claim('s', 'child', { ttlMs: 600_000 });
      const rotate = async () => { for (;;) await store.rotate(${JSON.stringify(scope)}); };
      const fork = async () => { for (let i = 1; ; i++) { if (await ledgers.head('s').then((head) => head.seq > 0)) await ledgers.fork('s', 1, 'f' + i); } };
      void fork();
      void rotate();
      for (let seq = 0; ; seq++) await ledgers.append('s', { seq, epoch }, { events: [note(seq + 1)] });`);
    const store = encrypted(sqlite(storePath()), {
      keys: localKeys({ keys: [secondKey, firstKey] }),
    });
    const ledgers = store.for(scope);
    await until(
      async () => ((await ledgers.head('s'))?.seq ?? 0) > 50 && (await ledgers.list()).length > 5,
    );
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const confirmed = (await ledgers.head('s'))?.seq ?? 0;
    expect(await write(ledgers, 's', ['after'])).toBe(confirmed + 1);
    expect(await textsOf(ledgers, 's')).toEqual([
      ...Array.from({ length: confirmed }, (_, i) => `n${i + 1}`),
      'after',
    ]);
    const forks = (await ledgers.list()).map(({ id }) => id).filter((id) => id.startsWith('f'));
    for (const fork of forks) expect(await textsOf(ledgers, fork), fork).toEqual(['n1']);
    await store.rotate(scope);
    await ledgers.delete('s', { erase: true });
    expect(await ledgers.list()).toEqual([]);
    expect((await store.rotate(scope)).records).toBeLessThanOrEqual(1);
    await store.close();
  });
});

describe('a follower in another process', () => {
  test('gets what is written, and can be heard', { timeout: 60_000 }, async () => {
    const store = encrypted(sqlite(storePath()), { keys: localKeys({ keys: [firstKey] }) });
    const ledgers = store.for(scope);
    await write(ledgers, 's', ['here']);
    inOtherProcess(`
      const seen = [];
      for await (const event of ledgers.follow('s', 0, new AbortController().signal)) {
        seen.push(event.text);
        if (seen.length < 3) continue;
        await ledgers.post('s', { key: 'seen', lane: 'input', by: 'user', at: 1, type: 'user', data: { seen } });
        break;
      }
      await store.close();`);
    await write(ledgers, 's', ['and', 'there']);
    await until(async () => (await ledgers.inbox('s')).length > 0);
    expect((await ledgers.inbox('s')).map(({ data }) => data)).toEqual([
      { seen: ['here', 'and', 'there'] },
    ]);
    await store.close();
  });
});
