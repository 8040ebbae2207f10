import { ours, type Row, type Settings } from '../../row.ts';
import type { Turn } from '../../server/host-config.ts';
import { paired } from '../../server/paired.ts';
import { planText } from '../../server/plan.ts';
import { HostProcess, ReaderProcess } from '../../server/processes.ts';
import type { Reading } from '../../server/reading.ts';
import { post } from '../../server/talk.ts';

const readers = 100;
const runs = 60;
const rounds = 30;
const session = 'long';
/**
 * Most time that `/v1/health` may take meanwhile, and one turn of the server's event loop, in
 * milliseconds.
 */
const mostHealth = 50;
const longestTurn = 20;

interface Measured {
  readonly ms: number;
  readonly health: number;
  readonly turn: Turn;
}

interface Case {
  readonly work: string;
  readonly reading: Omit<Reading, 'count'>;
  /** True when there is something to be read: else the stream has only to be answered. */
  readonly isRead: boolean;
}

/**
 * The delay of others while a hundred readers at once are told a long session from its beginning,
 * or come back to its end.
 */
export async function past({ quick }: Settings): Promise<readonly Row[]> {
  await using own = await HostProcess.start({ kind: 'adjutant', store: { kind: 'memory' } });
  await using reader = await ReaderProcess.start();
  const rows: Row[] = [];
  for (const { work, reading, isRead } of await casesOf(own)) {
    const measure = (): Promise<Measured> => measured(own, reader, reading, isRead);
    const figures = await paired([{ name: ours, measure }], quick ? 3 : 8);
    const to = `${readers} readers at once, ${work}`;
    rows.push(figures.row(`${to}: until the last has it`, 'ms', ({ ms }) => ms));
    rows.push({
      ...figures.row(`${to}: health meanwhile, p99`, 'ms', ({ health }) => health),
      ceiling: { limit: mostHealth },
    });
    rows.push({
      ...figures.row(`${to}: longest turn of the server`, 'ms', ({ turn }) => turn.wait),
      ceiling: { limit: longestTurn },
    });
    rows.push({
      ...figures.row(`${to}: longest turn, processor time`, 'ms', ({ turn }) => turn.cpu),
      ceiling: { limit: longestTurn },
    });
  }
  return rows;
}

/** Makes the session, of about 9,000 events. */
async function casesOf({ url }: HostProcess): Promise<readonly Case[]> {
  await post(`${url}/v1/sessions`, { id: session });
  const home = `${url}/v1/sessions/${session}`;
  for (let run = 1; run < runs; run++) {
    await post(`${url}/v1/runs`, {
      agent: 'worker',
      session,
      id: `run-${run}`,
      input: planText({ rounds }),
    });
    await (await fetch(`${home}/runs/run-${run}?wait=60`)).arrayBuffer();
  }
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: planText({ rounds }) }] };
  const chat = { id: session, trigger: 'submit-message', messages: [message] };
  await post(`${url}/v1/agents/worker/chat`, chat);
  const { seq } = (await (await fetch(home)).json()) as { seq: number };
  const stream = `${home}/stream`;
  const last = `id: ${seq}\n`;
  const read = (work: string, address: string, ends: string): Case => ({
    work,
    reading: { url: address, ends },
    isRead: true,
  });
  const resumed = (work: string, address: string): Case => ({
    work,
    reading: { url: address, ends: '' },
    isRead: false,
  });
  return [
    read('events from the beginning', stream, last),
    read('steps from the beginning', `${stream}?profile=steps`, last),
    read('messages from the beginning', `${stream}?profile=messages`, last),
    resumed('steps at the end', `${stream}?profile=steps&after=${seq}`),
    resumed('messages at the end', `${stream}?profile=messages&after=${seq}`),
    read('one run', `${home}/runs/run-${runs - 1}/stream`, 'event: end'),
    {
      work: 'a chat',
      reading: {
        url: `${url}/v1/agents/worker/chat`,
        method: 'POST',
        body: JSON.stringify(chat),
        ends: '[DONE]',
      },
      isRead: true,
    },
  ];
}

async function measured(
  host: HostProcess,
  reader: ReaderProcess,
  reading: Omit<Reading, 'count'>,
  isRead: boolean,
): Promise<Measured> {
  let isOver = false;
  const probe = healthOf(host, () => isOver);
  await host.ask('longestTurn');
  const begin = performance.now();
  await reader.open({ ...reading, count: readers });
  if (isRead) await reader.finished();
  const ms = performance.now() - begin;
  const turn = await host.ask('longestTurn');
  isOver = true;
  await reader.close();
  return { ms, turn, health: await probe };
}

/** Asks one time after the other. @returns the worst of a hundred answers, or of fewer */
async function healthOf({ url }: HostProcess, isOver: () => boolean): Promise<number> {
  const times: number[] = [];
  while (!isOver()) {
    const begin = performance.now();
    await (await fetch(`${url}/v1/health`)).arrayBuffer();
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? Number.NaN;
}
