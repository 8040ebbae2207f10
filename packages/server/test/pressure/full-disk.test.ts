import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Mounts a disk of 4 MB for one process only: it is gone when the process is. */
const mounted = (command: string): readonly string[] => [
  ...['--user', '--map-root-user', '--mount', 'sh', '-c'],
  `mount -t tmpfs -o size=4m none "$0" && exec ${command}`,
];
const place = mkdtempSync(join(tmpdir(), 'adjutant-full-'));
const canMount = spawnSync('unshare', [...mounted('true'), place]).status === 0;

let child: ChildProcess;
let url: string;

async function tell(order: 'fill' | 'empty'): Promise<void> {
  const done = once(child, 'message');
  child.send(order);
  await done;
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
}

/** Sends a request until its answer is as wanted; each waits for the server, which tries anew. */
async function until(wanted: number, ask: () => ReturnType<typeof call>) {
  for (;;) {
    const answer = await ask();
    if (answer.status === wanted) return answer;
  }
}

describe.skipIf(!canMount)('a disk that is full', () => {
  beforeAll(async () => {
    const program = new URL('./full-disk-process.ts', import.meta.url).pathname;
    const node = `"${process.execPath}" --conditions=adjutant-source "${program}" "$0"`;
    child = spawn('unshare', [...mounted(node), place], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    [url] = (await once(child, 'message')) as [string];
  });

  afterAll(() => {
    child?.kill('SIGKILL');
    rmSync(place, { recursive: true, force: true });
  });

  test('refuses writes by one code, goes on reading, says so, and recovers by itself', async () => {
    const kept = await call('POST', '/v1/sessions', { id: 'kept' });
    expect(kept.status).toBe(201);
    expect((await call('GET', '/v1/ready')).body).toMatchObject({ status: 'ready', store: 'ok' });

    await tell('fill');
    const refused = await until(503, () => call('POST', '/v1/sessions', {}));
    expect(refused.body).toMatchObject({ code: 'store_full', status: 503 });
    expect(refused.headers.get('retry-after')).toBe('10');
    // Each write, and no other way.
    for (const [method, path, body] of [
      ['POST', '/v1/runs', { agent: 'clerk', session: 'kept', input: 'Hello' }],
      ['POST', '/v1/sessions/kept/fork', { at: 0 }],
      ['DELETE', '/v1/sessions/kept', undefined],
    ] as const)
      expect((await call(method, path, body)).body).toMatchObject({ code: 'store_full' });

    expect(await call('GET', '/v1/sessions/kept')).toMatchObject({ status: 200 });
    expect(await call('GET', '/v1/sessions')).toMatchObject({ status: 200 });
    expect(await call('GET', '/v1/health')).toMatchObject({
      status: 200,
      body: { status: 'degraded', degraded: ['store_full'] },
    });
    expect(await call('GET', '/v1/ready')).toMatchObject({
      status: 200,
      body: { status: 'degraded', degraded: ['store_full'], store: 'read_only' },
    });

    await tell('empty');
    await until(201, () => call('POST', '/v1/sessions', { id: 'later' }));
    expect((await call('GET', '/v1/ready')).body).toMatchObject({
      status: 'ready',
      degraded: [],
      store: 'ok',
    });
    const started = await call('POST', '/v1/runs', {
      ...{ agent: 'clerk', session: 'later', input: 'Hello' },
    });
    const { run } = started.body['links'] as { run: string };
    expect((await call('GET', `${run}?wait=10000`)).body).toMatchObject({ status: 'completed' });
  });
});
