import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAdjutantError, memoryStore } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, testClock } from 'adjutant/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { send, waitingServer } from './approvals/paying-app.ts';
import { isReplayed, keptIn, key, seen } from './repeated-writes.ts';

const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what is kept', () => {
  test('is kept for as long as was asked, and removed then', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const ports = { ports: { clock } };
    const { api } = await waitingServer({
      store,
      runtime: ports,
      server: { ...ports, idempotency: { keepForMs: 60_000 } },
    });
    const [first, other] = [
      await send(api, 'POST', '/v1/sessions', {}, key('a')),
      await send(api, 'POST', '/v1/sessions', {}, key('b')),
    ];
    clock.advance(59_999);
    expect(isReplayed(await send(api, 'POST', '/v1/sessions', {}, key('a')))).toBe(true);
    expect(await keptIn(store)).toBe(2);
    clock.advance(1);
    const later = await send(api, 'POST', '/v1/sessions', {}, key('a'));
    expect([later.status, isReplayed(later)]).toEqual([201, false]);
    expect(later.headers.get('location')).not.toBe(first.headers.get('location'));
    clock.advance(60_001);
    await send(api, 'POST', '/v1/sessions', {}, key('c'));
    // Behind the request.
    const swept = async (): Promise<void> => ((await keptIn(store)) === 1 ? undefined : swept());
    await eventually(swept(), { what: 'the end of the sweep' });
    expect(other.status).toBe(201);
  });

  test('may be large', async () => {
    const file = join(folder, 'large.db');
    const payments = Array.from({ length: 60 }, (_, cents) => ({ cents, to: 'x'.repeat(500) }));
    const { api, app, requestIds } = await waitingServer({ payments, store: sqlite(file) });
    const body = {
      answers: requestIds.map((requestId) => ({
        requestId,
        decision: 'edit',
        args: { cents: 'x', ['y'.repeat(2_000)]: 1 },
      })),
    };
    const first = await send(api, 'POST', '/v1/approvals', body, key('k'));
    const second = await send(api, 'POST', '/v1/approvals', body, key('k'));
    expect([seen(second), isReplayed(second)]).toEqual([seen(first), true]);
    await api.close();
    await app.close();
  });
});

test('the reserved name is of another app', async () => {
  const { app, api } = await waitingServer();
  await send(api, 'POST', '/v1/sessions', {}, key('k'));
  const listed = (await app.sessions.list()).sessions;
  expect(listed.some(({ id }) => id.startsWith('key_'))).toBe(false);
  const missing = await app.sessions.stateAt('key_x').catch((error: unknown) => error);
  expect(isAdjutantError(missing, 'session_not_found')).toBe(true);
});
