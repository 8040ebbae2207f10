import { join } from 'node:path';
import { type Event, type LedgerStore, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { assertEqual } from '../contenders/contender.ts';
import { elapsed, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row } from '../row.ts';

const app = 'bench';
const session = 'long';
const rounds = 20_000;
/** One for the start, five for each round. */
const events = 1 + 5 * rounds;

/** Sessions of 100,001 events are looked at and forked, each time by a runtime that has nothing of them in memory. */
export const timeTravel: Benchmark = {
  name: 'time-travel',
  notes: [
    'The state of 100,001 events: cold from the events alone, of a ledger that nobody has asked before; then with the snapshots that this left behind.',
    'A fork is made and recorded in the store, and then opened like any session, which reads all of its events.',
  ],
  async run(settings) {
    const repetitions = settings.quick ? 3 : 10;
    const store = sqlite(join(settings.folder, 'travel.db'));
    const ledgers = store.for({ tenant: 'default', app });
    await writeRounds(ledgers);
    const reader = () => runtime({ app, store, recover: 'manual' });
    let forks = 0;
    const stateOf = async (id: string, seq: number) => assertEqual((await reader().stateAt(id, seq)).seq, seq, 'The place');
    const cold = async () => {
      // A fork of the beginning shares nothing, so it has to be filled; that is not what is timed.
      const id = `cold${forks++}`;
      await writeRounds(ledgers, id);
      const measured = await elapsed(() => stateOf(id, events));
      await ledgers.delete(id);
      return measured;
    };
    await stateOf(session, events);
    const rows: readonly (readonly [string, Subject['measure'], number?])[] = [
      ['state after 100,001 events, cold', cold, 150],
      ['state after 100,001 events, from a snapshot', () => elapsed(() => stateOf(session, events)), 5],
      ['state after 99,000 of 100,001 events, from a snapshot', () => elapsed(() => stateOf(session, 99_000)), 5],
      ['fork at 100,001 events, in the store', () => elapsed(() => ledgers.fork(session, events, `fork${forks++}`))],
      ['fork at event 10 of 100,001, in the store', () => elapsed(() => ledgers.fork(session, 10, `fork${forks++}`))],
      ['fork at 100,001 events, and open the fork', () => elapsed(() => reader().fork(session))],
    ];
    const measured: Row[] = [];
    for (const [work, measure, limit] of rows) {
      const figures = await interleave([{ name: ours, measure }], repetitions);
      measured.push({ work, unit: 'ms', figures, ...(limit === undefined ? {} : { ceiling: { limit } }) });
    }
    await store.close();
    return measured;
  },
};

const eventsPerBatch = 5_000;

async function writeRounds(ledgers: LedgerStore, id = session): Promise<void> {
  const claim = await ledgers.claim(id, 'bench', { ttl: 60_000 });
  let head = { seq: 0, epoch: claim.epoch };
  const all = eventsOfRounds();
  for (let from = 0; from < all.length; from += eventsPerBatch)
    head = await ledgers.append(id, head, { events: all.slice(from, from + eventsPerBatch) });
  await ledgers.release(claim);
}

/** What an agent of so many rounds leaves, one of whose values changes in each. */
function eventsOfRounds(): Event[] {
  const list: Event[] = [];
  const add = (data: Record<string, unknown>): void => {
    const seq = list.length + 1;
    list.push({
      v: 1,
      seq,
      id: `e${seq.toString(36)}`,
      at: 1_700_000_000_000 + seq,
      invocationId: 'run',
      by: 'runtime',
      ...data,
    } as unknown as Event);
  };
  add({ type: 'invocation_start', kind: 'agent', name: 'worker', mode: 'root' });
  for (let round = 1; round <= rounds; round++) {
    const call = { callId: `run/r${round}.0`, name: 'add' };
    const recipe = { encoder: 2, segments: [], resultLimit: 1, settings: 's' };
    add({ type: 'model_start', agent: 'worker', round, attempt: 1, model: 'a:b', recipe, estimatedInputTokens: 1 });
    add({ type: 'tool_call', ...call, agent: 'worker', args: { a: 1, b: 2 }, providerCallId: `c${round}`, round, index: 0 });
    add({ type: 'model_end', round, attempt: 1, status: 'completed', usage: { inputTokens: 1, outputTokens: 1 }, durationMs: 1 });
    add({ type: 'state_change', scope: 'session', source: 'mutation', changes: [{ key: `key${round % 100}`, newValue: round }] });
    add({ type: 'tool_result', ...call, attempt: 1, result: { status: 'success', content: 3 }, settled: true, durationMs: 1 });
  }
  return list;
}
