import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/stores/sqlite/database.ts';
import { assertLocalFile } from '../../../src/stores/sqlite/file-system.ts';
import { sqlite } from '../../../src/stores/sqlite/index.ts';

const nfs = 0x6969;
const cifs = 0xff534d42;
const ext4 = 0xef53;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'adjutant-file-system-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a SQLite file on a network drive', () => {
  test.each([
    ['NFS', nfs],
    ['SMB', 0x517b],
    ['CIFS', cifs],
    ['CIFS as a signed number', cifs | 0],
    ['SMB 2', 0xfe534d42],
  ])('%s is one', (_name, type) => {
    expect(() => assertLocalFile('runs.db', folder, () => type)).toThrow('network drive');
  });

  test.each([
    ['ext4', ext4],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlayfs', 0x794c7630],
    ['FUSE, which may be anything', 0x65735546],
    ['unknown', 0],
  ])('%s is none', (_name, type) => {
    expect(() => assertLocalFile('runs.db', folder, () => type)).not.toThrow();
  });

  test('is refused for good, with what to do, whether it is there or is to be made', () => {
    const path = join(folder, 'runs.db');
    const places: string[] = [];
    const open = (type: number) =>
      openDatabase(
        { path, synchronous: 'full', busyTimeoutMs: 1_000, isSystemClock: true },
        (place) => {
          places.push(place);
          return type;
        },
      );
    expect(() => open(nfs)).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        data: expect.objectContaining({ permanent: true }),
      }),
    );
    expect(existsSync(path)).toBe(false);
    open(ext4).close();
    expect(() => open(nfs)).toThrow(/network drive.*local disk.*PostgreSQL/);
    expect(places).toEqual([folder, folder, path]);
  });

  test('is not suspected where nobody can tell', () => {
    const unknown = (): number => {
      throw Object.assign(new Error('function not implemented'), {
        code: 'ENOSYS',
        syscall: 'statfs',
      });
    };
    openDatabase(
      {
        path: join(folder, 'runs.db'),
        synchronous: 'full',
        busyTimeoutMs: 1_000,
        isSystemClock: true,
      },
      unknown,
    ).close();
  });

  test(
    'is no local file: one that is made, one that is there, and none at all ' + 'are opened',
    async () => {
      for (const path of [join(folder, 'store.db'), join(folder, 'store.db'), ':memory:']) {
        const store = sqlite(path);
        expect(
          await store.for({ tenant: 't', app: 'a' }).claim('s', 'owner', { ttlMs: 1, force: true }),
        ).toMatchObject({ seq: 0 });
        await store.close();
      }
    },
  );
});
