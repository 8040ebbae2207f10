/**
 * Clients that lose their connections: `npm run test:reconnect [-- --quick] [-- --seed <number>]`.
 * Many clients follow runs through a proxy that cuts them off at random places; each must end with
 * exactly the ledger. The last line says how many cases there were.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { differenceFrom, messageDifference, type TextCount, textDifference } from './checks.ts';
import { type ClientFrame, ReconnectingClient } from './client.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { randomFrom } from './random.ts';
import { ServerHandle } from './server-handle.ts';

const { values } = parseArgs({
  options: {
    /** A fifth of the clients, on a quarter of the runs. */
    quick: { type: 'boolean', default: false },
    seed: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const runs = values.quick ? 5 : 20;
const clients = values.quick ? 40 : 200;
/** Milliseconds within which all clients must have come to their end. */
const patienceMs = 200_000;
/** Bytes by which the server may grow: what 20 sessions and 200 streams need is far below. */
const mostHeapGrowth = 64 * 2 ** 20;
const mostRssGrowth = 512 * 2 ** 20;

let cases = 0;
let failed = 0;

function check(name: string, problem: string | undefined): void {
  cases++;
  if (problem === undefined) return;
  failed++;
  console.error(`FAILED ${name}, --seed ${seed}\n${problem}\n`);
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Stream that a client follows. */
interface Following {
  readonly name: string;
  readonly run: string;
  readonly session: string;
  readonly path: string;
  readonly kind: 'session' | 'run' | 'steps' | 'messages';
  readonly client: ReconnectingClient;
}

/** Half of the clients follow sessions, the others runs, as they are and in other words. */
function followingOf(index: number, port: number, slowness: number): Following {
  const run = `run${index % runs}`;
  const session = `session${index % runs}`;
  const kind =
    (['session', 'run', 'session', 'messages', 'run', 'steps'] as const)[
      Math.floor(index / runs) % 6
    ] ?? 'run';
  const profile = kind === 'steps' || kind === 'messages' ? `?profile=${kind}` : '';
  const path =
    kind === 'session'
      ? `/v1/sessions/${session}/stream`
      : `/v1/sessions/${session}/runs/${run}/stream${profile}`;
  const isRootEnd = ({ event, data }: ClientFrame): boolean =>
    event === 'invocation_end' && JSON.parse(data).invocationId === run;
  const isLast = kind === 'session' ? isRootEnd : ({ event }: ClientFrame) => event === 'end';
  const client = new ReconnectingClient({
    port,
    path,
    random: randomFrom(seed + index + 1),
    isLast,
    slowness,
  });
  return { name: `client ${index} of ${path}`, run, session, path, kind, client };
}

const texts: TextCount = { answers: 0, whole: 0 };

/** Returns the frames that the client should have: the ledger, or the same stream without a cut. */
async function expectedOf(
  { kind, run, path }: Following,
  ledger: readonly ClientFrame[],
  port: number,
): Promise<readonly ClientFrame[]> {
  if (kind === 'session') return ledger;
  if (kind === 'run')
    return ledger.filter(({ data }) => JSON.parse(data).invocationId?.split(/[/>]/)[0] === run);
  const uncut = new ReconnectingClient({
    port,
    path,
    random,
    isLast: ({ event }) => event === 'end',
    slowness: 0,
  });
  await uncut.follow();
  return uncut.frames.filter(({ id }) => id !== undefined);
}

async function checkClient(
  following: Following,
  ledger: readonly ClientFrame[],
  port: number,
): Promise<void> {
  const { client, kind, name } = following;
  const difference = differenceFrom(client.frames, await expectedOf(following, ledger, port));
  const text =
    kind === 'messages'
      ? messageDifference(client.frames)
      : kind === 'steps'
        ? undefined
        : textDifference(client.frames, texts);
  check(name, difference ?? text);
}

async function ledgerOf(server: ServerHandle, session: string): Promise<readonly ClientFrame[]> {
  server.tell({ type: 'ledger', session });
  const { events } = await server.next('ledger');
  return events.map((data) => {
    const { seq, type } = JSON.parse(data) as { seq: number; type: string };
    return { id: String(seq), event: type, data };
  });
}

async function main(directory: string): Promise<void> {
  const server = new ServerHandle(join(directory, 'reconnect.db'));
  const { port } = await server.next('listening');
  const proxy = await cuttingProxy(port, random);
  const before = await server.memory();
  const peak = { heapUsed: before.heapUsed, rss: before.rss, followers: 0 };
  const began = performance.now();
  let isDone = false;
  const started = new Map<string, Promise<unknown>>();
  for (let i = 0; i < runs; i++) {
    server.tell({ type: 'start', session: `session${i}`, run: `run${i}` });
    started.set(`run${i}`, server.next('started'));
  }
  await Promise.all(started.values());
  const followings = Array.from({ length: clients }, (_, index) =>
    followingOf(index, proxy.port, index % 10 === 0 ? 0.3 : 0),
  );
  // One client of each run keeps its connection, past the proxy. It has its first frame before the
  // first approval, so that it reads the last answer whole, however slow the machine is.
  const steady = Array.from({ length: runs }, (_, index) => followingOf(index, port, 0));
  const steadyComings = steady.map(({ client }) => client.follow());
  await Promise.all(steady.map(({ client }) => client.first));
  const watching = (async () => {
    while (!isDone) {
      const now = await server.memory();
      peak.heapUsed = Math.max(peak.heapUsed, now.heapUsed);
      peak.rss = Math.max(peak.rss, now.rss);
      peak.followers = Math.max(peak.followers, now.followers);
      server.tell({ type: 'approve' });
      await server.next('approved');
      await pause(500);
    }
  })();
  const comings = followings.map(async ({ client }) => {
    // Some are there from the beginning, some come in the middle.
    await pause(random() * 3_000);
    await client.follow();
  });
  const late = pause(patienceMs).then(() => 'late' as const);
  const all = Promise.all([...steadyComings, ...comings]);
  const outcome = await Promise.race([all.then(() => 'done' as const), late]);
  isDone = true;
  await watching;
  const seconds = Math.round((performance.now() - began) / 1_000);
  check(
    'all clients come to their end',
    outcome === 'done' ? undefined : `Not all had everything after ${patienceMs} ms.`,
  );
  for (let i = 0; i < runs; i++) {
    const ledger = await ledgerOf(server, `session${i}`);
    for (const following of [...steady, ...followings].filter(({ run }) => run === `run${i}`))
      await checkClient(following, ledger, port);
  }
  await proxy.close();
  const connections = followings.reduce((sum, { client }) => sum + client.connections, 0);
  const frames = followings.reduce((sum, { client }) => sum + client.frames.length, 0);
  console.log(
    `${clients} clients, ${runs} runs, ${seconds} s: ${frames} frames over ${connections} ` +
      `connections, ${proxy.cuts} cut, ${proxy.partCuts} of them in the middle of bytes`,
  );
  console.log(
    `${texts.answers} answers compared with what was streamed of them, ${texts.whole} ` +
      'streamed whole',
  );
  check(
    'connections were cut',
    proxy.partCuts >= clients ? undefined : `only ${proxy.partCuts} were`,
  );
  // A client that was away when an answer ended has only the beginning of what was streamed.
  const cut = steady.filter(({ client }) => client.connections > 1).length;
  check('who is not cut off stays connected', cut === 0 ? undefined : `${cut} came back`);
  check(
    'answers were streamed',
    texts.whole >= runs ? undefined : `only ${texts.whole} whole, of ${runs} runs`,
  );
  await checkServer(server, before, peak);
}

async function checkServer(
  server: ServerHandle,
  before: { heapUsed: number; rss: number },
  peak: { heapUsed: number; rss: number; followers: number },
): Promise<void> {
  let after = await server.memory();
  // Frames before the last cut of the proxy may be on their way.
  for (let tries = 0; after.followers > 0 && tries < 50; tries++) {
    await pause(100);
    after = await server.memory();
  }
  const heaps = [before, peak, after].map(({ heapUsed }) => megabytes(heapUsed)).join(', ');
  const resident = [before, peak, after].map(({ rss }) => megabytes(rss)).join(', ');
  console.log(
    `memory of the server at the start, at its peak, at the end: heap ${heaps}; resident ` +
      `${resident}; ledgers followed at most ${peak.followers}`,
  );
  check('ledgers were followed', peak.followers > 0 ? undefined : 'none was');
  check(
    'nobody is followed when all have left',
    after.followers === 0 ? undefined : `${after.followers} are`,
  );
  const grown = peak.heapUsed - before.heapUsed;
  check(
    'the heap of the server stays bounded',
    grown <= mostHeapGrowth ? undefined : `it grew by ${megabytes(grown)}`,
  );
  const resided = peak.rss - before.rss;
  check(
    'the memory of the server stays bounded',
    resided <= mostRssGrowth ? undefined : `it grew by ${megabytes(resided)}`,
  );
  const code = await server.close();
  check('the server ends as it should', code === 0 ? undefined : `its exit code is ${code}`);
}

const directory = mkdtempSync(join(tmpdir(), 'adjutant-reconnect-'));
try {
  await main(directory);
} catch (error) {
  check('the test itself', error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(`${cases} cases, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
