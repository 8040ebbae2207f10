import { join } from 'node:path';
import type { Event } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { BareCommit } from '../bare-commit.ts';
import { elapsed, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';
import { type OpenStore, openStores } from '../stores.ts';

const sessionCounts = [1, 10, 100];

/**
 * Batches of five events, as a round leaves them, in several sessions at once; each session waits
 * for its own.
 */
export const appends: Benchmark = {
  name: 'appends',
  notes: [
    'An append is a batch of five events, checked against the head of its session. Its ' +
      'floor, on SQLite, is a bare commit of five rows.',
  ],
  async run(settings) {
    const rows: Row[] = [];
    for (const opened of await openStores(settings)) {
      await using open = opened;
      for (const count of sessionCounts) rows.push(await appendsOf(open, count, settings));
    }
    return rows;
  },
};

async function appendsOf(
  { name, store }: OpenStore,
  count: number,
  { quick, folder }: Settings,
): Promise<Row> {
  const ledgers = store.for({ tenant: 'default', app: 'bench' });
  const writers = await Promise.all(
    Array.from({ length: count }, (_, i) => openWriter(ledgers, `appends-${count}-${i}`)),
  );
  const each = Math.ceil((quick ? 200 : 1_000) / count);
  const rate = async (work: () => Promise<unknown>): Promise<number> =>
    (count * each * 1_000) / (await elapsed(work));
  const subjects: Subject[] = [
    {
      name: ours,
      measure: () => rate(() => Promise.all(writers.map((append) => times(each, append)))),
    },
  ];
  // A worker that takes one transaction after the other has no use for several sessions.
  await using bare =
    name === 'PostgreSQL' || count > 1
      ? undefined
      : new BareCommit(join(folder, 'appends.db'), 'full');
  if (bare !== undefined)
    subjects.push({
      name: 'bare loop',
      measure: () => rate(() => times(each, () => bare.round())),
    });
  const figures = await interleave(subjects, quick ? 4 : 10);
  return {
    work: `appends, ${count} ${count === 1 ? 'session' : 'sessions at once'}, ${name}`,
    unit: 'appends/s',
    figures,
  };
}

async function times(count: number, work: () => Promise<void>): Promise<void> {
  for (let i = 0; i < count; i++) await work();
}

async function openWriter(ledgers: LedgerStore, session: string): Promise<() => Promise<void>> {
  let { seq, epoch } = await ledgers.claim(session, 'bench', { ttlMs: 600_000 });
  return async () => {
    const events = roundAfter(session, seq);
    ({ seq, epoch } = await ledgers.append(session, { seq, epoch }, { events }));
  };
}

/** The events of one round with one call. */
function roundAfter(session: string, last: number): Event[] {
  const call = { callId: `run/r${last}.0`, name: 'add', attempt: 1 };
  const recipe = { encoder: 2, segments: [], resultLimit: 1, settings: 's' };
  const list: Record<string, unknown>[] = [
    {
      type: 'model_start',
      agent: 'worker',
      round: last,
      attempt: 1,
      model: 'a:b',
      recipe,
      estimatedInputTokens: 1,
    },
    {
      type: 'tool_call',
      ...call,
      agent: 'worker',
      args: { a: 1, b: 2 },
      providerCallId: `c${last}`,
      round: last,
      index: 0,
    },
    {
      type: 'model_end',
      round: last,
      attempt: 1,
      status: 'completed',
      usage: { inputTokens: 1, outputTokens: 1 },
      durationMs: 1,
    },
    { type: 'tool_attempt', ...call, version: '1', fingerprint: 'f', idempotencyKey: `k${last}` },
    {
      type: 'tool_result',
      ...call,
      result: { status: 'success', content: 3 },
      settled: true,
      durationMs: 1,
    },
  ];
  return list.map((data, i) => {
    const seq = last + 1 + i;
    return {
      v: 1,
      seq,
      id: `${session}-${seq}`,
      at: 1_700_000_000_000 + seq,
      invocationId: 'run',
      by: 'runtime',
      ...data,
    } as Event;
  });
}
