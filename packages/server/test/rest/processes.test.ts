import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { callerOf } from './caller.ts';

test(
  'any server of an app waits for a run of another one, gives it messages and ' + 'cancels it',
  async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'adjutant-rest-')), 'app.db');
    const begun = Promise.withResolvers<void>();
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        begun.resolve();
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        return ctx.complete('never');
      },
    });
    const make = () => callerOf(runtime({ app: 'shop', store: sqlite(path), runnables: [slow] }));
    const [one, other] = [make(), make()];
    await one.post('/v1/sessions', { id: 's' });
    await one.post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun.promise;
    expect((await other.get('/v1/sessions/s/runs/r')).body.status).toBe('running');
    const waiting = other.get('/v1/sessions/s/runs/r?wait=60000');
    const posted = await other.post('/v1/sessions/s/runs', {
      agent: 'slow',
      input: 'Hurry',
      id: 'more',
    });
    expect(posted).toMatchObject({ status: 202, body: { asked: 'more' } });
    expect((await other.post('/v1/sessions/s/runs/r/cancel', { reason: 'Enough.' })).status).toBe(
      202,
    );
    expect((await waiting).body).toMatchObject({
      status: 'cancelled',
      error: { message: 'Enough.' },
    });
  },
);
