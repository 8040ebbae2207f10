import { BullMqQueue } from '../peers/bullmq-queue.ts';
import { findPeers } from '../peers/packages.ts';
import { PgBossQueue } from '../peers/pg-boss-queue.ts';
import { SyncedRedis } from '../peers/redis.ts';
import { note, postgresUrl } from '../stores.ts';
import { AdjutantQueue } from './adjutant-queue.ts';
import type { TaskQueue } from './task-queue.ts';

/** Ours on PostgreSQL and the peers, as far as they are there; all are empty. */
export class ServerQueues implements AsyncDisposable {
  readonly own: AdjutantQueue;
  readonly all: readonly TaskQueue[];
  readonly #redis: SyncedRedis | undefined;

  private constructor(
    own: AdjutantQueue,
    peers: readonly TaskQueue[],
    redis: SyncedRedis | undefined,
  ) {
    this.own = own;
    this.all = [own, ...peers];
    this.#redis = redis;
  }

  /** @returns `undefined` without PostgreSQL */
  static async open(): Promise<ServerQueues | undefined> {
    if (postgresUrl === undefined) return undefined;
    const own = AdjutantQueue.onPostgres(postgresUrl);
    const { peers, reason } = await findPeers();
    if (peers === undefined) {
      note(`NOT MEASURED: pg-boss and BullMQ (bench/peers): ${reason}.`);
      return new ServerQueues(own, [], undefined);
    }
    const boss = await PgBossQueue.open(peers.boss, postgresUrl);
    const redis = await SyncedRedis.start();
    if (redis === undefined) {
      note('NOT MEASURED: BullMQ, because no Redis starts (redis-server).');
      return new ServerQueues(own, [boss], undefined);
    }
    return new ServerQueues(own, [boss, new BullMqQueue(peers.bull, redis.port)], redis);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const queue of this.all) await queue[Symbol.asyncDispose]();
    await this.#redis?.[Symbol.asyncDispose]();
  }
}
