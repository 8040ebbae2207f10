import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { agent, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { server } from '../../../src/index.ts';
import { ask } from '../../access/caller.ts';

test('A1: a damaged row is a problem that says so by its code, and tells no more', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'adjutant-damaged-')), 'app.db');
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Here.' })) });
  const app = runtime({ app: 'shop', store: sqlite(path), runnables: [clerk], recover: 'manual' });
  const errors: unknown[] = [];
  const api = server(app, { onError: (error) => void errors.push(error) });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  for (const session of ['bad', 'good']) await app.run(clerk, { session, input: 'Go' });
  const database = new DatabaseSync(path);
  database.exec(
    "update events set body = '[]' where seq = 2 and ledger = (select id from ledgers " +
      "where session = 'bad')",
  );
  database.close();
  for (const what of ['GET /v1/sessions/bad/state', 'POST /v1/sessions/bad/fork']) {
    const { status, body, text } = await ask(
      api,
      what,
      what.startsWith('POST') ? { body: {} } : {},
    );
    expect([status, body.code]).toEqual([500, 'ledger_unreadable']);
    expect(text).not.toContain('body is damaged');
  }
  expect(errors).toEqual([
    expect.objectContaining({ code: 'ledger_unreadable' }),
    expect.objectContaining({ code: 'ledger_unreadable' }),
  ]);
  expect((await ask(api, 'GET /v1/sessions/bad/events')).status).toBe(200);
  expect((await ask(api, 'GET /v1/sessions/good/state')).status).toBe(200);
});
