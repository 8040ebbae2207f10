import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Runtime, runtime } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { apiKeys, server } from '../../../src/index.ts';

const keys = localKeys({ keys: [{ id: 'k', secret: 'a secret of a test, of 32 characters' }] });

test(
  'A10: a key that was revoked stays so when the end of the ledger of keys ' + 'is cut off',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adjutant-a10-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'store.db');
    const open = (): Runtime =>
      runtime({
        app: 'shop',
        store: encrypted(sqlite(path, { synchronous: 'normal' }), { keys }),
        recover: 'manual',
      });
    const statusWith = async (app: Runtime, credential: string): Promise<number> => {
      const api = server(app, { auth: {} });
      const answer = await api.fetch(
        new Request('http://localhost/v1/sessions', {
          headers: { authorization: `Bearer ${credential}` },
        }),
      );
      return answer.status;
    };
    const first = open();
    const { key, credential } = await apiKeys(first).create({ name: 'leaked', roles: ['admin'] });
    expect(await statusWith(first, credential)).toBe(200);
    await apiKeys(first).revoke(key.id);
    expect(await statusWith(first, credential)).toBe(401);
    await first.close();
    const file = new DatabaseSync(path);
    const { id, seq } = file
      .prepare("select id, seq from ledgers where session = 'api-keys'")
      .get() as { id: number; seq: number };
    file.prepare('delete from events where ledger = ? and seq = ?').run(id, seq);
    file.prepare('update ledgers set seq = seq - 1 where id = ?').run(id);
    file.close();
    const again = open();
    expect(await statusWith(again, credential)).toBe(401);
    // Nor does another key take the place of what is gone.
    await expect(apiKeys(again).create({ name: 'other', roles: ['admin'] })).rejects.toMatchObject({
      code: 'ledger_unreadable',
    });
    expect(await statusWith(again, credential)).toBe(401);
    await again.close();
  },
);
