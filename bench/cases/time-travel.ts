import { join } from 'node:path';
import { type Event, runtime, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import type { LedgerStore } from 'adjutant/store';
import { assertEqual } from '../contenders/contender.ts';
import { elapsed, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row } from '../row.ts';

const app = 'bench';
const session = 'long';
const rounds = 20_000;
/** One for the start, five for each round. */
const events = 1 + 5 * rounds;

/**
 * Sessions of 100,001 events are looked at and forked, each time by a runtime that has nothing of
 * them in memory.
 */
export const timeTravel: Benchmark = {
  name: 'time-travel',
  notes: [
    'The state after 100,001 events: cold from the events alone, as if nobody had asked ' +
      'before; then with the snapshots that the first one to ask leaves.',
    'A fork is made and recorded in the store, and then opened like any session, which ' +
      'reads all of its events.',
  ],
  async run(settings) {
    const repetitions = settings.quick ? 3 : 10;
    const store = sqlite(join(settings.folder, 'travel.db'));
    const ledgers = store.for({ tenant: 'default', app });
    await writeRounds(ledgers);
    const reader = (from: Store = store) => runtime({ app, store: from, recover: 'manual' });
    const stateOf = async (seq: number, from?: Store) =>
      assertEqual((await reader(from).sessions.stateAt(session, seq)).seq, seq, 'The place');
    const forgetful = withoutSnapshots(store);
    let forks = 0;
    await stateOf(events);
    const rows: readonly (readonly [string, Subject['measure'], number?])[] = [
      ['state after 100,001 events, cold', () => elapsed(() => stateOf(events, forgetful)), 150],
      ['state after 100,001 events, from a snapshot', () => elapsed(() => stateOf(events)), 5],
      [
        'state after 99,000 of 100,001 events, from a snapshot',
        () => elapsed(() => stateOf(99_000)),
        5,
      ],
      [
        'moment after 99,000 of 100,001 events, from a snapshot',
        () => elapsed(() => reader().sessions.momentAt(session, 99_000)),
        10,
      ],
      [
        'fork at 100,001 events, in the store',
        () => elapsed(() => ledgers.fork(session, events, `fork${forks++}`)),
      ],
      [
        'fork at event 10 of 100,001, in the store',
        () => elapsed(() => ledgers.fork(session, 10, `fork${forks++}`)),
      ],
      [
        'fork at 100,001 events, and open the fork',
        () => elapsed(() => reader().sessions.fork(session)),
      ],
    ];
    const measured: Row[] = [];
    for (const [work, measure, limit] of rows) {
      const figures = await interleave([{ name: ours, measure }], repetitions);
      measured.push({
        work,
        unit: 'ms',
        figures,
        ...(limit === undefined ? {} : { ceiling: { limit } }),
      });
    }
    await store.close();
    return measured;
  },
};

const eventsPerBatch = 5_000;

/** The same store for somebody who finds no snapshots, but keeps them. */
function withoutSnapshots(store: Store): Store {
  const forget = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name: keyof LedgerStore) =>
        name === 'getSnapshot'
          ? () => Promise.resolve(undefined)
          : (target[name] as (...args: unknown[]) => unknown).bind(target),
    });
  return {
    description: store.description,
    admin: store.admin,
    for: (scope) => forget(store.for(scope)),
    close: () => store.close(),
  };
}

async function writeRounds(ledgers: LedgerStore): Promise<void> {
  const claim = await ledgers.claim(session, 'bench', { ttlMs: 60_000 });
  let head = { seq: 0, epoch: claim.epoch };
  const all = eventsOfRounds();
  for (let from = 0; from < all.length; from += eventsPerBatch)
    head = await ledgers.append(session, head, { events: all.slice(from, from + eventsPerBatch) });
  await ledgers.release(claim);
}

/** Events of an agent in its rounds, each of which changes one value of its state. */
function eventsOfRounds(): Event[] {
  const start = { type: 'invocation_start', kind: 'agent', name: 'worker', mode: 'root' };
  const entries: EventEntry[] = [start];
  for (let round = 1; round <= rounds; round++) entries.push(...entriesOfRound(round));
  return entries.map(eventOf);
}

/** The part of an event that is its own. */
type EventEntry = Readonly<Record<string, unknown>>;

function eventOf(entry: EventEntry, index: number): Event {
  const seq = index + 1;
  return {
    v: 1,
    seq,
    id: `e${seq.toString(36)}`,
    at: 1_700_000_000_000 + seq,
    invocationId: 'run',
    by: 'runtime',
    ...entry,
  } as Event;
}

/** A model call, the tool call that it asks for, a change of the state and the result. */
function entriesOfRound(round: number): readonly EventEntry[] {
  const call = { callId: `run/r${round}.0`, name: 'add' };
  return [
    {
      type: 'model_start',
      agent: 'worker',
      round,
      attempt: 1,
      model: 'a:b',
      recipe: { encoder: 2, segments: [], resultLimit: 1, settings: 's' },
      estimatedInputTokens: 1,
    },
    {
      type: 'tool_call',
      ...call,
      agent: 'worker',
      args: { a: 1, b: 2 },
      providerCallId: `c${round}`,
      round,
      index: 0,
    },
    {
      type: 'model_end',
      round,
      attempt: 1,
      status: 'completed',
      usage: { inputTokens: 1, outputTokens: 1 },
      durationMs: 1,
    },
    {
      type: 'state_change',
      scope: 'session',
      source: 'mutation',
      changes: [{ key: `key${round % 100}`, newValue: round }],
    },
    {
      type: 'tool_result',
      ...call,
      attempt: 1,
      result: { status: 'success', content: 3 },
      settled: true,
      durationMs: 1,
    },
  ];
}
