import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';
import { callTool } from 'adjutant/testing';
import { readFile } from 'adjutant/tools';
import { expect, onTestFinished, test } from 'vitest';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'adjutant-a16-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function modesOf(path: string): Promise<readonly string[]> {
  const store = sqlite(path);
  await store.for({ tenant: 'default', app: 'shop' }).list({});
  const modes = readdirSync(join(path, '..')).map(
    (name) =>
      `${name.replace(/^.*db/, '')} ${(statSync(join(path, '..', name)).mode & 0o777).toString(8)}`,
  );
  await store.close();
  return modes.sort();
}

test(
  'A16: the files of a SQLite store that is made are for the user of the ' + 'process alone',
  async () => {
    const before = process.umask(0o022);
    onTestFinished(() => void process.umask(before));
    expect(await modesOf(join(folder(), 'new.db'))).toEqual([' 600', '-shm 600', '-wal 600']);
  },
);

test('A16: a SQLite file that is there keeps the permissions that somebody gave it', async () => {
  const path = join(folder(), 'shared.db');
  await modesOf(path);
  chmodSync(path, 0o660);
  expect(await modesOf(path)).toEqual([' 660', '-shm 660', '-wal 660']);
});

/** Counts searches and joins of `Buffer` during some work. */
async function workOf<Result>(
  act: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly steps: number }> {
  const { concat } = Buffer;
  let steps = 0;
  Buffer.concat = (...given) => {
    steps++;
    return concat(...given);
  };
  try {
    return { result: await act(), steps };
  } finally {
    Buffer.concat = concat;
  }
}

test(
  'A16: a file of millions of lines costs `readFile` no work for each line that it does not ' +
    'give',
  async () => {
    const root = folder();
    writeFileSync(join(root, 'lines.txt'), `${'x\n'.repeat(500)}${'\n'.repeat(3_000_000)}end`);
    const tool = readFile({ root });
    const first = await workOf(() => callTool(tool, { path: 'lines.txt', limit: 3 }));
    expect(first.result).toMatchObject({
      status: 'success',
      content: {
        text: 'x\nx\nx',
        firstLine: 1,
        lastLine: 3,
        totalLines: 3_000_501,
        truncated: true,
      },
    });
    expect(first.steps).toBeLessThan(100);
    const last = await workOf(() => callTool(tool, { path: 'lines.txt', offset: 3_000_500 }));
    expect(last.result).toMatchObject({
      status: 'success',
      content: {
        text: '\nend',
        firstLine: 3_000_500,
        lastLine: 3_000_501,
        totalLines: 3_000_501,
        truncated: false,
      },
    });
    expect(last.steps).toBeLessThan(100);
  },
);
