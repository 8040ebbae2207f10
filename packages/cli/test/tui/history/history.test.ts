import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from 'adjutant/ports';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  appendHistory,
  historyPath,
  mostEntries,
  readHistory,
} from '../../../src/tui/history/history.ts';
import { searchHistory } from '../../../src/tui/history/search.ts';

let folder: string;
let projects = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'adjutant-history-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** File of a project that nothing was sent from. */
const path = (): string => historyPath(folder, `/home/ada/project ${projects++}`);

/** Clock whose timers are due at once. */
const hasty: Clock = {
  ...systemClock,
  setTimer: (_, task) => {
    queueMicrotask(task);
    return () => undefined;
  },
};

const isPosix = process.platform !== 'win32';
const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('texts are kept for each project, in a file of its owner', async () => {
  const [file, other] = [path(), path()];
  expect(await readHistory(file)).toEqual([]);
  expect(await appendHistory(file, 'one', systemClock)).toBe(true);
  expect(await appendHistory(file, 'two\nlines', systemClock)).toBe(true);
  expect(await appendHistory(other, 'three', systemClock)).toBe(true);
  expect(await readHistory(file)).toEqual(['one', 'two\nlines']);
  expect(await readHistory(other)).toEqual(['three']);
  expect(existsSync(`${file}.lock`)).toBe(false);
  if (isPosix) expect([modeOf(file), modeOf(dirname(file))]).toEqual([0o600, 0o700]);
});

test('a file that others can read is closed to them', async () => {
  const file = path();
  await appendHistory(file, 'one', systemClock);
  chmodSync(file, 0o644);
  await appendHistory(file, 'two', systemClock);
  if (isPosix) expect(modeOf(file)).toBe(0o600);
});

test('texts that begin with a blank, empty and very long ones are not kept', async () => {
  const file = path();
  for (const text of ['', ' secret', '\tsecret', '\nsecret', 'x'.repeat(100_001)])
    expect(await appendHistory(file, text, systemClock)).toBe(false);
  expect(existsSync(file)).toBe(false);
});

test('the same text twice in a row is one entry', async () => {
  const file = path();
  for (const text of ['a', 'a', 'b', 'a']) await appendHistory(file, text, systemClock);
  expect(await readHistory(file)).toEqual(['a', 'b', 'a']);
});

test('the newest 2,000 entries are kept', async () => {
  const file = path();
  await appendHistory(file, 'first', systemClock);
  const lines = Array.from({ length: mostEntries - 1 }, (_, at) => `"entry ${at}"\n`);
  writeFileSync(file, lines.join(''), { flag: 'a' });
  await appendHistory(file, 'newest', systemClock);
  const entries = await readHistory(file);
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([2_000, 'entry 0', 'newest']);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2_001);
  if (isPosix) expect(modeOf(file)).toBe(0o600);
});

test('lines that cannot be read are passed over, and a torn one is mended', async () => {
  const file = path();
  await appendHistory(file, 'one', systemClock);
  writeFileSync(file, '17\nnonsense\n"to', { flag: 'a' });
  expect(await readHistory(file)).toEqual(['one']);
  await appendHistory(file, 'two', systemClock);
  expect(await readHistory(file)).toEqual(['one', 'two']);
});

test('entries that are appended at once are all kept', async () => {
  const file = path();
  const texts = Array.from({ length: 10 }, (_, at) => `text ${at}`);
  const kept = await Promise.all(texts.map((text) => appendHistory(file, text, systemClock)));
  expect(kept).toEqual(texts.map(() => true));
  expect((await readHistory(file)).sort()).toEqual(texts);
});

test('a lock that another process holds is waited for, and an old one is taken', async () => {
  const file = path();
  await appendHistory(file, 'one', systemClock);
  writeFileSync(`${file}.lock`, '');
  expect(await appendHistory(file, 'two', hasty)).toBe(false);
  const longAgo = (systemClock.now() - 11_000) / 1_000;
  utimesSync(`${file}.lock`, longAgo, longAgo);
  expect(await appendHistory(file, 'three', hasty)).toBe(true);
  expect(await readHistory(file)).toEqual(['one', 'three']);
});

test('whatever was sent is read as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), async (texts) => {
      const file = path();
      const expected: string[] = [];
      for (const text of texts)
        if ((await appendHistory(file, text, systemClock)) && expected.at(-1) !== text)
          expected.push(text);
      expect(await readHistory(file)).toEqual(expected);
    }),
    { numRuns: 5 },
  );
});

test('a search goes back from match to match', () => {
  const entries = ['Run the tests', 'fork it', 'run it', 'run it', 'done'];
  const first = searchHistory(entries, 'run');
  expect(first).toEqual({ place: 3, text: 'run it' });
  const second = searchHistory(entries, 'run', first);
  expect(second).toEqual({ place: 0, text: 'Run the tests' });
  expect(searchHistory(entries, 'run', second)).toBeUndefined();
  expect(searchHistory(entries, 'Run')).toEqual({ place: 0, text: 'Run the tests' });
  expect(searchHistory(entries, 'nothing')).toBeUndefined();
  expect(searchHistory(entries, '')).toBeUndefined();
});
