import { type ClientRequest, request } from 'node:http';
import { microseconds, stampPattern } from './plan.ts';
import type { Reading, ReadingResult } from './reading.ts';

/**
 * One stream of server-sent events, read as its bytes come: little work, for there may be a
 * thousand in this process.
 */
class Follower {
  frames = 0;
  bytes = 0;
  deltaFrames = 0;
  deltas = 0;
  readonly latencies: number[] = [];
  readonly opened: Promise<void>;
  /** Resolves when the text comes that ends what is counted. */
  readonly ended: Promise<void>;
  readonly #request: ClientRequest;
  readonly #isStamped: boolean;
  readonly #ends: string;
  #rest = '';
  #lastStamp = 0;
  #onEnd: () => void = () => undefined;

  constructor({ url, method = 'GET', body, isStamped = false, ends }: Reading) {
    this.#isStamped = isStamped;
    this.#ends = ends;
    this.#request = request(url, {
      method,
      agent: false,
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    });
    this.opened = new Promise((resolve, reject) => {
      this.#request.once('error', reject);
      this.#request.once('response', (response) => {
        if (response.statusCode !== 200)
          reject(new Error(`A stream was answered with ${response.statusCode}.`));
        response.on('data', (chunk: Buffer) => this.#read(chunk));
        response.on('error', () => undefined);
        resolve();
      });
    });
    this.ended = new Promise((resolve) => (this.#onEnd = resolve));
    this.#request.end(body);
  }

  close(): void {
    this.#request.on('error', () => undefined);
    this.#request.destroy();
  }

  #read(chunk: Buffer): void {
    this.bytes += chunk.length;
    const now = this.#isStamped ? microseconds() : 0;
    const text = this.#rest + chunk.toString('latin1');
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n\n', from);
      if (end < 0) break;
      this.frames++;
      this.#readFrame(text.slice(from, end), now);
      from = end + 2;
    }
    this.#rest = text.slice(from);
  }

  #readFrame(frame: string, now: number): void {
    const before = this.deltas;
    // A stamp that was read before is said again where the text has become durable.
    if (frame.includes('@'))
      for (const [, digits] of frame.matchAll(stampPattern)) this.#readStamp(Number(digits), now);
    if (this.deltas > before) this.deltaFrames++;
    if (frame.includes(this.#ends)) this.#onEnd();
  }

  #readStamp(stamp: number, now: number): void {
    if (stamp <= this.#lastStamp) return;
    this.#lastStamp = stamp;
    this.deltas++;
    if (this.#isStamped) this.latencies.push(now - stamp);
  }
}

let followers: Follower[] = [];
const openedAtOnce = 50;
let counted: Promise<unknown> = Promise.resolve();

const acts = {
  async open(reading: Reading): Promise<void> {
    const ends: Promise<void>[] = [];
    for (let i = 0; i < reading.count; i++) {
      const follower = new Follower(reading);
      followers.push(follower);
      ends.push(follower.ended);
      if (i % openedAtOnce === 0) await follower.opened;
    }
    await Promise.all(followers.map(({ opened }) => opened));
    counted = Promise.all(ends);
  },
  async finished(): Promise<ReadingResult> {
    await counted;
    return acts.seen();
  },
  async seen(): Promise<ReadingResult> {
    const sum = (what: 'frames' | 'bytes' | 'deltas' | 'deltaFrames'): number =>
      followers.reduce((all, follower) => all + follower[what], 0);
    const latencies = Float64Array.from(followers.flatMap((follower) => follower.latencies)).sort();
    const quantile = (part: number): number =>
      (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0) / 1_000;
    return {
      at: microseconds(),
      frames: sum('frames'),
      bytes: sum('bytes'),
      deltas: sum('deltas'),
      deltaFrames: sum('deltaFrames'),
      p50: quantile(0.5),
      p99: quantile(0.99),
    };
  },
  async close(): Promise<void> {
    for (const follower of followers) follower.close();
    followers = [];
  },
};

process.on(
  'message',
  async ({ id, asked, given }: { id: number; asked: keyof typeof acts; given: Reading }) => {
    process.send?.({ id, answer: await acts[asked](given) });
  },
);
process.on('disconnect', () => process.exit());
process.send?.({ id: 0 });
