import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, type Runtime, runtime, type Store } from 'adjutant';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestProcess } from '../../crash/child-process.ts';
import { EffectFile, readEffects } from '../../crash/effect-file.ts';
import { processRunnables } from '../../crash/process-runnables.ts';
import type { ProcessOrder } from '../../crash/process-worker.ts';
import { connect, type StoreAddress } from '../../crash/worker-store.ts';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';

const session = 's';
const children: TestProcess[] = [];
const apps: Runtime[] = [];
let directory: string;
let effects: string;
let ownEffects: EffectFile;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-accepted-'));
  effects = join(directory, 'effects.jsonl');
  writeFileSync(effects, '');
  ownEffects = new EffectFile(effects);
});

async function endAll(): Promise<void> {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(apps.splice(0).map((app) => app.close()));
}

afterEach(async () => {
  await endAll();
  ownEffects.close();
  rmSync(directory, { recursive: true, force: true });
});

function start(store: StoreAddress, runnable: string, asks?: ProcessOrder['asks']): TestProcess {
  const child = new TestProcess({
    store,
    runnable,
    session,
    effects,
    lease: 30_000,
    ...(asks === undefined ? {} : { asks }),
  });
  children.push(child);
  return child;
}

/** This process, with the same runnables; what waits in the others does not wait here. */
function here(address: StoreAddress): Store {
  const store = connect(address);
  const ports = { session, say: () => undefined, goOn: Promise.resolve(), effects: ownEffects };
  apps.push(
    runtime({
      app: 'processes',
      store,
      runnables: Object.values(processRunnables(ports)),
      recover: 'auto',
    }),
  );
  return store;
}

/** All events up to the end of a run, whoever writes them. */
async function eventsToEnd(
  store: Store,
  isEnd: (event: Event) => boolean,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of store
    .for({ tenant: 'default', app: 'processes' })
    .follow(session, 0, new AbortController().signal)) {
    events.push(event);
    if (isEnd(event)) break;
  }
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  return events;
}

const isEndOfRun = (event: Event): boolean =>
  event.type === 'invocation_end' && event.invocationId === 'run';
const textsOf = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'user' ? [event.text] : []));

describe.each([
  ['SQLite', undefined],
  ['PostgreSQL', reasonToSkip],
])(
  'what was accepted by a process that is killed in the same moment, on %s',
  (storeName, skipped) => {
    const schema = newSchema();
    const address = (): StoreAddress =>
      storeName === 'SQLite'
        ? { file: join(directory, 'store.db') }
        : { url: serverUrl, schema: schema.name };

    afterEach(async () => {
      await endAll();
      if (storeName === 'PostgreSQL' && skipped === undefined) await schema.drop();
    });

    test.skipIf(skipped !== undefined)(
      'is carried to its end by another process, when it was a run',
      async () => {
        expect(await start(address(), 'holding', { runId: 'run', input: 'Go' }).ended()).toBeNull();
        const events = await eventsToEnd(here(address()), isEndOfRun);
        expect(events.at(-1)).toMatchObject({ status: 'completed', output: 'held' });
        expect(textsOf(events)).toEqual(['Go']);
        expect(
          readEffects(effects)
            .map(({ callId }) => callId)
            .sort(),
        ).toEqual(['run/r1.0', 'run/r3.0']);
      },
    );

    test.skipIf(skipped !== undefined)(
      'is heeded when it was left for a process that is killed too',
      async () => {
        const holder = start(address(), 'holding');
        await holder.says('the tool waits');
        expect(await start(address(), 'holding', { input: 'And this' }).ended()).toBeNull();
        await holder.kill();
        const events = await eventsToEnd(here(address()), isEndOfRun);
        expect(events.at(-1)).toMatchObject({ status: 'completed', output: 'held' });
        expect(textsOf(events)).toEqual(['Go', 'And this']);
      },
    );

    test.skipIf(skipped !== undefined)(
      'is heeded when that process was killed before it could read it',
      async () => {
        const holder = start(address(), 'holding');
        await holder.says('the tool waits');
        // It reads nothing while it is stopped.
        holder.signal('SIGSTOP');
        expect(await start(address(), 'holding', { input: 'And this' }).ended()).toBeNull();
        await holder.kill();
        const store = here(address());
        const events = await eventsToEnd(store, isEndOfRun);
        expect(textsOf(events)).toEqual(['Go', 'And this']);
        expect(await store.for({ tenant: 'default', app: 'processes' }).inbox(session)).toEqual([]);
      },
    );
  },
);
