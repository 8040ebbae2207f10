import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runtime } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { afterAll, expect, test } from 'vitest';
import { serve } from '../../../src/index.ts';
import type { Failing, GuardedOrder, GuardedReport } from './guarded-process.ts';

/** With it a process begins in a third of the time. */
const compiled = fileURLToPath(
  new URL('../../../../node_modules/.cache/adjutant-compiled', import.meta.url),
);

const started: Guarded[] = [];

afterAll(async () => {
  for (const each of started) {
    each.kill();
    await each.ended;
  }
});

type Told = Extract<GuardedReport, { type: 'told' }>;

/** A process that serves, seen from the test. */
class Guarded {
  readonly reports: GuardedReport[] = [];
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;
  stderr = '';

  constructor(order: GuardedOrder) {
    this.#child = fork(new URL('guarded-process.ts', import.meta.url), [JSON.stringify(order)], {
      execArgv: [],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#child.on('message', (report: GuardedReport) => void this.reports.push(report));
    this.ended = once(this.#child, 'close');
    started.push(this);
  }

  async urls(): Promise<readonly string[]> {
    await eventually(() => this.reports.length > 0, {
      what: 'the process',
      // A loaded machine takes its time to start five processes.
      patienceMs: 100_000,
    });
    return this.reports.flatMap((report) => (report.type === 'listening' ? report.urls : []));
  }

  get told(): readonly Told[] {
    return this.reports.filter((report) => report.type === 'told');
  }

  end(): void {
    this.#child.send('end');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }
}

async function run(url: string, agent: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ agent, input: 'Go' }),
  });
  const { links } = (await answer.json()) as { readonly links: { readonly run: string } };
  const ended = await fetch(`${url}${links.run}?wait=20000`);
  return ((await ended.json()) as { readonly status: unknown }).status;
}

const codes: Readonly<Record<Failing, string>> = {
  rejection: 'unhandled_rejection',
  unprintable: 'unhandled_rejection',
  listener: 'uncaught_exception',
  timer: 'uncaught_exception',
  connection: 'uncaught_exception',
};

test.concurrent(
  'A1: the server goes on and says so; listeners of the app are called as well; two servers ' +
    'share one guard',
  async ({ expect }) => {
    const guarded = new Guarded({ hasOnError: true, listensItself: true, servers: 2 });
    const [url = ''] = await guarded.urls();
    for (const [failing, code] of Object.entries(codes)) {
      const before = guarded.told.length;
      expect(await run(url, failing)).toBe('completed');
      await eventually(() => guarded.told.length > before, {
        what: `the report of a failure in a ${failing}`,
      });
      expect(guarded.told.slice(before).map((told) => told.code)).toEqual([code]);
      expect(await run(url, 'clerk')).toBe('completed');
    }
    expect(guarded.reports.filter(({ type }) => type === 'own')).toHaveLength(
      Object.keys(codes).length,
    );
    guarded.end();
    await guarded.ended;
    expect(guarded.reports.find(({ type }) => type === 'listeners')).toEqual({
      type: 'listeners',
      counts: [1, 1, 2, 2, 2, 2, 1, 1],
    });
  },
);

test.concurrent('A1: where nobody is to be told, it is a warning of the process', async ({
  expect,
}) => {
  const guarded = new Guarded({});
  const [url = ''] = await guarded.urls();
  await run(url, 'rejection');
  await eventually(() => guarded.stderr.includes('[unhandled_rejection] AdjutantWarning'), {
    what: 'the warning',
  });
  expect(guarded.stderr).toContain('Nobody waits for this.');
  expect(await run(url, 'clerk')).toBe('completed');
  guarded.kill();
});

test.concurrent(
  'A1: with "close" an uncaught exception closes the server and ends the process; a ' +
    'rejection does not',
  async ({ expect }) => {
    const guarded = new Guarded({ hasOnError: true, options: { processGuard: 'close' } });
    const [url = ''] = await guarded.urls();
    for (const failing of ['rejection', 'connection', 'clerk'])
      expect(await run(url, failing)).toBe('completed');
    await run(url, 'timer').catch(() => undefined);
    await guarded.ended;
    expect(guarded.exitCode).toBe(1);
    expect(guarded.told.map(({ code }) => code)).toEqual([
      'unhandled_rejection',
      'uncaught_exception',
      'uncaught_exception',
    ]);
    // Not by Node, which would say what ended it.
    expect(guarded.stderr).not.toContain('Node.js v');
  },
);

test.concurrent('A1: without a guard Node does what it does', async ({ expect }) => {
  const guarded = new Guarded({ options: { processGuard: false } });
  const [url = ''] = await guarded.urls();
  await run(url, 'rejection').catch(() => undefined);
  await guarded.ended;
  expect(guarded.exitCode).toBe(1);
  expect(guarded.stderr).toContain('Node.js v');
});

test('A1: a guard that does not exist is refused', async () => {
  const app = runtime({ app: 'shop' });
  await expect(serve(app, { port: 0, processGuard: true as never })).rejects.toThrow(
    "`processGuard` must be 'continue', 'close' or false",
  );
  await app.close();
});
