import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callTool } from 'adjutant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { rootedFiles } from './rooted-files.ts';
import { searchFiles } from './search-files.ts';

const makePipe = 'mkfifo';
let place: string;
let root: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'rooted-'));
  root = join(place, 'root');
  await mkdir(join(root, 'reports', 'old'), { recursive: true });
  await mkdir(join(place, 'outside'));
  await mkdir(join(place, 'root-twin'));
  await writeFile(join(place, 'outside', 'secret.txt'), 'SECRET outside');
  await writeFile(join(place, 'root-twin', 'secret.txt'), 'SECRET twin');
  await writeFile(join(root, 'notes.txt'), 'first\nSecond line\nthird\n');
  await writeFile(join(root, 'reports', 'a.csv'), 'id,amount\n1,2\n');
  await writeFile(join(root, 'reports', 'old', 'b.csv'), 'id\n');
});

afterEach(() => rm(place, { recursive: true, force: true }));

const read = (path: string, more: object = {}) => callTool(readFile({ root }), { path, ...more });

describe('the root', () => {
  test.each([
    ['parent', '../outside/secret.txt'],
    ['parent inside', 'reports/../notes.txt'],
    ['parent at the end', 'reports/..'],
    ['hidden parent', './reports/../../outside/secret.txt'],
    ['twin of the root', '../root-twin/secret.txt'],
    ['absolute', '/etc/passwd'],
    ['drive', 'C:/Windows/win.ini'],
    ['backslashes', '..\\outside\\secret.txt'],
    ['share', '\\\\server\\share'],
    ['null character', 'notes.txt\0.csv'],
    ['endless', 'x/'.repeat(600)],
  ])('%s is refused by every tool', async (_, path) => {
    for (const [made, args] of [
      [readFile({ root }), { path }],
      [listFiles({ root }), { path }],
      [searchFiles({ root }), { path, query: 'SECRET' }],
    ] as const) {
      const result = await callTool(made, args);
      expect(result).toMatchObject({
        status: 'error_blocked',
        errorType: 'path_refused',
        alternatives: expect.any(Array),
      });
      expect(JSON.stringify(result)).not.toContain(place);
    }
  });

  test('an absolute path into the root is refused as well', async () => {
    expect(await read(join(root, 'notes.txt'))).toMatchObject({ errorType: 'path_refused' });
  });

  test('links that lead out are refused, and are not listed or searched', async () => {
    await symlink(join(place, 'outside'), join(root, 'way-out'));
    await symlink(join(place, 'outside', 'secret.txt'), join(root, 'leak.txt'));
    await symlink('../../root-twin', join(root, 'reports', 'twin'));
    await symlink('leak.txt', join(root, 'leak-by-link.txt'));
    for (const path of [
      'way-out/secret.txt',
      'leak.txt',
      'reports/twin/secret.txt',
      'leak-by-link.txt',
    ]) {
      expect(await read(path)).toMatchObject({
        status: 'error_blocked',
        errorType: 'path_refused',
      });
    }
    expect(await callTool(listFiles({ root }), { path: 'way-out' })).toMatchObject({
      errorType: 'path_refused',
    });
    const listed = JSON.stringify((await callTool(listFiles({ root }), {})).content);
    expect(listed).not.toMatch(/leak|secret/);
    expect(await callTool(searchFiles({ root }), { query: 'SECRET' })).toMatchObject({
      content: { matches: [] },
    });
  });

  test('links that stay inside work; links in a circle are refused', async () => {
    await symlink('notes.txt', join(root, 'inside.txt'));
    await symlink('round.txt', join(root, 'round.txt'));
    expect(await read('inside.txt')).toMatchObject({
      status: 'success',
      content: { text: 'first\nSecond line\nthird' },
    });
    expect(await read('round.txt')).toMatchObject({
      status: 'error_blocked',
      errorType: 'path_refused',
    });
  });

  test('links to folders are not followed on a walk, so circles do no harm', async () => {
    await symlink(root, join(root, 'reports', 'again'));
    const { content } = await callTool(listFiles({ root }), {});
    expect((content as { files: unknown[] }).files).toHaveLength(3);
  });

  test('the root itself may be a link', async () => {
    await symlink(root, join(place, 'linked-root'));
    expect(
      await callTool(readFile({ root: join(place, 'linked-root') }), { path: 'notes.txt' }),
    ).toMatchObject({ status: 'success' });
  });

  test(
    'a root that does not exist is a clear failure, and one that is no text an ' + 'invalid tool',
    async () => {
      expect(await callTool(readFile({ root: join(place, 'none') }), { path: 'x' })).toMatchObject({
        status: 'error_permanent',
        errorType: 'root_not_found',
      });
      expect(() => readFile({} as { root: string })).toThrow(
        expect.objectContaining({ code: 'invalid_tool' }),
      );
      expect(() => listFiles({ root: '' })).toThrow(
        expect.objectContaining({ code: 'invalid_tool' }),
      );
    },
  );

  test('pipes and devices are refused and do not hang', async () => {
    execFileSync(makePipe, [join(root, 'pipe')]);
    await symlink('/dev/zero', join(root, 'zero'));
    expect(await read('pipe')).toMatchObject({
      status: 'error_blocked',
      errorType: 'path_refused',
    });
    expect(await read('zero')).toMatchObject({
      status: 'error_blocked',
      errorType: 'path_refused',
    });
  });

  test(
    'exchanging a folder for a link while files are opened never gives what ' + 'is outside',
    async () => {
      const files = rootedFiles('test', { root });
      await mkdir(join(root, 'swap'));
      await writeFile(join(root, 'swap', 'secret.txt'), 'harmless inside');
      let swapping = true;
      const swapper = (async () => {
        while (swapping) {
          await rename(join(root, 'swap'), join(root, 'parked'));
          await symlink(join(place, 'outside'), join(root, 'swap'));
          await unlink(join(root, 'swap'));
          await rename(join(root, 'parked'), join(root, 'swap'));
        }
      })();
      const texts = new Set<string>();
      for (let i = 0; i < 400; i++) {
        try {
          await using file = await files.open('swap/secret.txt');
          texts.add(await file.handle.readFile('utf8'));
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: expect.stringMatching(/tool_failure|ENOENT/) });
        }
      }
      swapping = false;
      await swapper;
      expect([...texts].filter((text) => text !== 'harmless inside')).toEqual([]);
    },
  );

  test(
    'what cannot be told from a file of the root is documented to pass: a ' + 'hard link',
    async () => {
      await link(join(place, 'outside', 'secret.txt'), join(root, 'hard.txt'));
      expect(await read('hard.txt')).toMatchObject({ status: 'success' });
    },
  );
});

describe('readFile', () => {
  test('gives lines and says how many there are', async () => {
    expect(await read('notes.txt')).toEqual({
      status: 'success',
      content: {
        path: 'notes.txt',
        text: 'first\nSecond line\nthird',
        firstLine: 1,
        lastLine: 3,
        totalLines: 3,
        truncated: false,
      },
    });
    expect(await read('./notes.txt', { offset: 2, limit: 1 })).toMatchObject({
      content: { text: 'Second line', firstLine: 2, lastLine: 2, totalLines: 3, truncated: true },
    });
    expect(await read('notes.txt', { offset: 9 })).toMatchObject({
      content: { text: '', totalLines: 3, truncated: false },
    });
  });

  test('reads on where the size limit cut, until it has all', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i} äöü`);
    await writeFile(join(root, 'large.txt'), `${lines.join('\n')}\n`);
    const collected: string[] = [];
    let offset = 1;
    for (let more = true; more; ) {
      const { content } = await callTool(readFile({ root, maxBytes: 10_000 }), {
        path: 'large.txt',
        offset,
      });
      const part = content as { text: string; lastLine: number; truncated: boolean };
      expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(10_000);
      collected.push(part.text);
      offset = part.lastLine + 1;
      more = part.truncated;
    }
    expect(collected.join('\n')).toBe(lines.join('\n'));
  });

  test('a single line longer than the limit is cut between characters', async () => {
    await writeFile(join(root, 'one-line.txt'), 'é'.repeat(200_000));
    const { content } = await callTool(readFile({ root, maxBytes: 1_001 }), {
      path: 'one-line.txt',
    });
    expect(content).toMatchObject({ text: 'é'.repeat(500), totalLines: 1, truncated: true });
  });

  test.each<[string, string | Buffer, string, number]>([
    ['empty file', '', '', 0],
    ['one empty line', '\n', '', 1],
    ['no line end at the end', 'a\nb', 'a\nb', 2],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb', 2],
    ['byte order mark', Buffer.from('\ufeffa'), 'a', 1],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb', 1],
  ])('%s', async (_, content, text, totalLines) => {
    await writeFile(join(root, 'case.txt'), content);
    expect(await read('case.txt')).toMatchObject({
      status: 'success',
      content: { text, totalLines, truncated: false },
    });
  });

  test.each([
    ['binary', Buffer.from([0x89, 0x50, 0, 1])],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le')],
  ])('%s files are refused', async (_, content) => {
    await writeFile(join(root, 'case.bin'), content);
    expect(await read('case.bin')).toMatchObject({
      status: 'error_permanent',
      errorType: 'binary_file',
    });
  });

  test('a missing file names the nearest one, a folder says what it is', async () => {
    const missing = await read('reports/a.cvs');
    expect(missing).toMatchObject({
      status: 'error_permanent',
      errorType: 'file_not_found',
      content: 'There is no "reports/a.cvs".',
    });
    expect(missing.alternatives?.[0]).toBe('Did you mean "reports/a.csv"?');
    expect((await read('note.txt')).alternatives?.[0]).toBe('Did you mean "notes.txt"?');
    expect(await read('notes.txt/deeper')).toMatchObject({ errorType: 'file_not_found' });
    expect(await read('reports')).toMatchObject({
      status: 'error_permanent',
      errorType: 'is_folder',
    });
    expect(await read('.')).toMatchObject({ errorType: 'is_folder' });
  });

  test('an abort stops the reading', async () => {
    expect(
      await callTool(readFile({ root }), { path: 'notes.txt' }, { signal: AbortSignal.abort() }),
    ).toMatchObject({ errorType: 'aborted' });
  });

  test.each([
    {},
    { path: '' },
    { path: 7 },
    { path: 'a', offset: 0 },
    { path: 'a', limit: 1.5 },
    { path: 'a', more: 1 },
  ])('%j is refused', async (args) => {
    expect(await callTool(readFile({ root }), args)).toMatchObject({
      errorType: 'validation_error',
    });
  });
});

describe('listFiles', () => {
  const list = async (args: object) =>
    (await callTool(listFiles({ root }), args)).content as {
      files: { path: string }[];
      truncated: boolean;
    };
  const paths = async (args: object) => (await list(args)).files.map(({ path }) => path);

  test('lists in the order of paths, with sizes, without node_modules and .git', async () => {
    for (const folder of ['node_modules', '.git', 'reports.old']) {
      await mkdir(join(root, folder));
      await writeFile(join(root, folder, 'x'), 'x');
    }
    await writeFile(join(root, 'reports', 'Z.csv'), '');
    expect(await list({})).toEqual({
      files: [
        { path: 'notes.txt', size: 24 },
        { path: 'reports.old/x', size: 1 },
        { path: 'reports/Z.csv', size: 0 },
        { path: 'reports/a.csv', size: 14 },
        { path: 'reports/old/b.csv', size: 3 },
      ],
      truncated: false,
    });
  });

  test('path, pattern and limit', async () => {
    expect(await paths({ path: 'reports' })).toEqual(['reports/a.csv', 'reports/old/b.csv']);
    expect(await paths({ path: 'notes.txt' })).toEqual(['notes.txt']);
    expect(await paths({ pattern: '*.csv' })).toEqual(['reports/a.csv', 'reports/old/b.csv']);
    expect(await paths({ pattern: 'reports/*.csv' })).toEqual(['reports/a.csv']);
    expect(await paths({ pattern: 'reports/**' })).toEqual(['reports/a.csv', 'reports/old/b.csv']);
    expect(await list({ limit: 1 })).toMatchObject({
      files: [{ path: 'notes.txt' }],
      truncated: true,
    });
    expect(await list({ limit: 3 })).toMatchObject({ truncated: false });
  });

  test('a missing folder is a failure that names the nearest', async () => {
    const result = await callTool(listFiles({ root }), { path: 'report' });
    expect(result).toMatchObject({
      errorType: 'file_not_found',
      alternatives: ['Did you mean "reports"?', expect.any(String)],
    });
  });
});

describe('searchFiles', () => {
  const search = async (args: object, options: object = {}) =>
    (await callTool(searchFiles({ root, ...options }), args)).content;

  test('finds literal text with file and line', async () => {
    expect(await search({ query: 'second' })).toEqual({
      matches: [{ path: 'notes.txt', line: 2, text: 'Second line' }],
      searchedFiles: 3,
      truncated: false,
    });
    expect(await search({ query: 'second', caseSensitive: true })).toMatchObject({ matches: [] });
    expect(await search({ query: 'id', path: 'reports' })).toMatchObject({
      matches: [{ path: 'reports/a.csv' }, { path: 'reports/old/b.csv' }],
    });
    expect(await search({ query: 'i', pattern: '*.txt' })).toMatchObject({ searchedFiles: 1 });
  });

  test('a query is never a regular expression', async () => {
    await writeFile(join(root, 'evil.txt'), `${'a'.repeat(50_000)}!\n(a+)+$\n`);
    expect(await search({ query: '(a+)+$' })).toMatchObject({
      matches: [{ path: 'evil.txt', line: 2 }],
    });
  });

  test('limits: matches, size of files, length of lines', async () => {
    await writeFile(join(root, 'many.txt'), 'hit\n'.repeat(10));
    expect(await search({ query: 'hit', limit: 4 })).toMatchObject({
      truncated: true,
      matches: { length: 4 },
    });
    expect(await search({ query: 'hit', limit: 10 })).toMatchObject({
      truncated: false,
      matches: { length: 10 },
    });
    expect(await search({ query: 'hit' }, { maxBytes: 30 })).toMatchObject({
      matches: [],
      tooLarge: ['many.txt'],
    });
    await writeFile(join(root, 'wide.txt'), `${'x'.repeat(5_000)}NEEDLE${'y'.repeat(5_000)}`);
    const wide = (await search({ query: 'needle' })) as { matches: { text: string }[] };
    expect(wide.matches[0]?.text).toContain('NEEDLE');
    expect(wide.matches[0]?.text.length).toBeLessThan(400);
  });

  test('binary files have no matches', async () => {
    await writeFile(join(root, 'data.bin'), Buffer.from('\0hit'));
    expect(await search({ query: 'hit' })).toMatchObject({ matches: [] });
  });
});
