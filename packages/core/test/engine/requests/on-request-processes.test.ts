import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { agent, runtime } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { afterAll, expect, test } from 'vitest';
import type { TellingOrder } from '../../crash/telling-worker.ts';
import { connect, type StoreAddress } from '../../crash/worker-store.ts';
import { payTool } from '../../pay-tool.ts';
import {
  newSchema,
  reasonToSkip,
  serverUrl,
  type TestSchema,
} from '../../stores/postgres/server.ts';

let files = 0;
const schemas: TestSchema[] = [];
const directory = mkdtempSync(join(tmpdir(), 'adjutant-telling-'));
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await Promise.all(schemas.map((schema) => schema.drop()));
});

/** Lets another process ask and die. Returns what it said. */
async function killed(order: TellingOrder): Promise<string> {
  const program = new URL('../../crash/telling-worker.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(child.stdout);
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  return (await said).trim();
}

async function toldByAnother(store: StoreAddress): Promise<readonly string[]> {
  const { pay } = payTool();
  const payer = agent({ name: 'payer', model: roundModel([{ text: 'Done' }]), tools: [pay] });
  const told: string[] = [];
  const app = runtime({
    app: 'telling',
    store: connect(store),
    runnables: [payer],
    onRequest: ({ request }) => void told.push(request.requestId),
  });
  for await (const event of app.follow('s'))
    if (event.type === 'decision' && event.decision === 'notify') break;
  const pending = await app.requests.listPendingApprovals();
  expect(told).toEqual(pending.map(({ requestId }) => requestId));
  expect(told).toHaveLength(1);
  await app.close();
  return told;
}

const places = [
  ['SQLite', undefined, () => ({ file: join(directory, `${++files}.db`) })],
  ['PostgreSQL', reasonToSkip, newPostgres],
] as const;

function newPostgres(): StoreAddress {
  const schema = newSchema();
  schemas.push(schema);
  return { url: serverUrl, schema: schema.name };
}

for (const [name, reason, place] of places) {
  // Each waits for the pause after which a request is told again.
  (reason === undefined ? test.concurrent : test.skip)(
    `a request whose process was killed before it told is told by another (${name})`,
    async ({ expect }) => {
      const store = place();
      expect(await killed({ store, dies: 'before' })).toBe('');
      await toldByAnother(store);
    },
  );

  (reason === undefined ? test.concurrent : test.skip)(
    `a request whose process was killed before it noted it is told again (${name})`,
    async ({ expect }) => {
      const store = place();
      const said = await killed({ store, dies: 'after' });
      expect(await toldByAnother(store)).toEqual([said]);
    },
  );
}
