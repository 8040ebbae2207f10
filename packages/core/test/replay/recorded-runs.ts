import { memoryStore, type Runnable, type Runtime, runtime, type Store } from 'adjutant';
import { type RecordedLedger, type ReplayOptions, recordedLedgerOf, replay } from 'adjutant/replay';
import type { LedgerStore } from 'adjutant/store';
import { type CrashManner, crashCases, type MakeScenario } from 'adjutant/testing';
import { enteredBy } from './entered.ts';

/** A record, and what it is a record of. */
export interface RecordedRun {
  readonly name: string;
  readonly record: RecordedLedger;
}

const defaultApp = 'crash-points';
const session = 'the-session';

export function runnablesOf({
  app,
  beside,
  runnable,
}: ReturnType<MakeScenario>): readonly Runnable[] {
  return [runnable, ...(beside === undefined ? [] : [beside.runnable]), ...(app?.runnables ?? [])];
}

/** Today's code: what one process has, without a store. */
export function appOf(make: MakeScenario): Runtime {
  return runtime({
    app: defaultApp,
    ...make().app,
    runnables: runnablesOf(make()),
    recover: 'manual',
  });
}

/** Returns the record of a session in a store. */
async function recordIn(
  store: Store,
  tenant: string,
  app = defaultApp,
  id = session,
): Promise<RecordedLedger> {
  const reader = runtime({ app, tenant, store, recover: 'manual' });
  return recordedLedgerOf(await reader.sessions.open({ id, observe: false }));
}

/**
 * Runs a scenario with stops of some manner at each `every`th place, and gives what was recorded.
 */
export async function* stoppedRuns(
  make: MakeScenario,
  manner: CrashManner,
  every: number,
): AsyncGenerator<RecordedRun> {
  const store = memoryStore();
  const tenants: string[] = [];
  const noting: Store = {
    ...store,
    for: (scope): LedgerStore => {
      if (!tenants.includes(scope.tenant)) tenants.push(scope.tenant);
      return store.for(scope);
    },
    close: async () => undefined,
  };
  const app = make().app?.app ?? defaultApp;
  for await (const { name, run } of crashCases(make, {
    openStore: () => noting,
    manners: [manner],
    every,
    appends: 'separate',
  })) {
    tenants.length = 0;
    if (!(await run())) continue;
    yield { name, record: await recordIn(store, tenants[0] as string, app) };
  }
}

/** Replays a record on the code that made it, and returns the problem, if there is one. */
export async function problemOf(
  record: RecordedLedger,
  app: Runtime,
  options: ReplayOptions = {},
): Promise<string | undefined> {
  const before = JSON.stringify(record);
  const { report, entered } = await enteredBy(() => replay(record, app, options));
  const { divergence, divergences, events } = report;
  if (divergence !== undefined)
    return (
      `event ${divergence.seq} of ${record.events.length}, ${divergence.path}: ` +
      `${divergence.subject} ${JSON.stringify(divergence.differences).slice(0, 600)}`
    );
  if (divergences.length > 0) return 'divergences without a first one';
  if (events !== record.events.length)
    return `${events} of ${record.events.length} events were replayed`;
  const ran = entered.filter((callId) => !record.events.some((event) => isBelow(event, callId)));
  if (ran.length > 0) return `it ran ${ran.join(', ')}`;
  return JSON.stringify(record) === before ? undefined : 'the record was changed';
}

/** The body of a tool that has called others is run again, and gets what they gave. */
function isBelow(event: RecordedLedger['events'][number], callId: string): boolean {
  const below = `${callId}/`;
  return (
    event.invocationId?.startsWith(below) === true ||
    ('callId' in event && event.callId.startsWith(below))
  );
}
