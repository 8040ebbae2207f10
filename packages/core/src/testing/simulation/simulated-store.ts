import { defined } from '../../base/defined.ts';
import { contentHash, sha256 } from '../../base/hash.ts';
import { blobAddress } from '../../ledger/blobs/blob-address.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import { serviceQueue } from '../../ledger/port/service-sessions.ts';
import type { InboxItem, LedgerStore, PostOptions, Store, TakeOptions } from '../../ledger/port.ts';
import type { FaultPlan } from './faults.ts';
import { type MachineProcess, never } from './machine.ts';
import type { World } from './world.ts';

/** Milliseconds that a call and its answer each take on their way, at least and at most. */
const fastest = 0.2;
const slowest = 20;
/** Milliseconds after which a slow answer comes, at most: twice the time of a lease. */
const slowestAnswer = 60_000;
/** Milliseconds for which a process stands still, at least and at most: up to four leases. */
const pauses = [1_000, 120_000] as const;
/** Calls of a process that has nothing to do. */
const idle: ReadonlySet<string> = new Set([
  'due',
  'sends',
  'admin.due',
  'admin.sends',
  'admin.take of services',
  'admin.sweepBlobs',
]);
/** Part of the usual faults that idle calls meet: they are many, and little depends on them. */
const idleShare = 0.01;
const streaming: ReadonlySet<string> = new Set(['read', 'readStored', 'follow']);

/** Turns of services are counted apart: they come between those of runs at every look. */
function placeOf({ queues = [] }: TakeOptions): string {
  return queues.includes(serviceQueue) ? 'admin.take of services' : 'admin.take';
}

type Scope = Parameters<Store['for']>[0];

/** The world of a simulated store, and the process that calls it. */
export interface StoreCaller {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly process: MachineProcess;
  /** Name of the machine: its calls are counted across the processes that it has one by one. */
  readonly machine: string;
  /** Called when a process is stopped at a call of the store. */
  readonly stop: () => void;
}

/**
 * A store as one process reaches it over a network. Calls and answers take their time, may be lost,
 * and are never answered when the process has been killed. The store behind it is shared by all
 * processes.
 */
export function simulatedStore(inner: Store, caller: StoreCaller): Store {
  const made = new Map<string, LedgerStore>();
  const network = new Network(caller);
  return {
    description: inner.description,
    for(scope) {
      const key = JSON.stringify([scope.tenant, scope.app]);
      const ledgers = made.get(key) ?? network.over(inner.for(scope), scope);
      made.set(key, ledgers);
      return ledgers;
    },
    admin: {
      due: (options) => network.call('admin.due', options, () => inner.admin.due(options)),
      take: (options) => network.call(placeOf(options), options, () => inner.admin.take(options)),
      sends: (filter) => network.call('admin.sends', filter, () => inner.admin.sends(filter)),
      replaceRows: (at, expected, rows) =>
        network.call('admin.replaceRows', [at, expected, rows], () =>
          inner.admin.replaceRows(at, expected, rows),
        ),
      sweepBlobs: (options) =>
        network.call('admin.sweepBlobs', options, () => inner.admin.sweepBlobs(options)),
    },
    // The store lives on: a process ends, and others go on.
    close: () => network.close(),
  };
}

/** The way between one process and the store. */
class Network {
  readonly #caller: StoreCaller;
  /** The last call about each session on its way to the store: none overtakes another. */
  readonly #onTheirWay = new Map<string, Promise<unknown>>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** Rejects when the process closes its store. */
  readonly #closing: Promise<never>;
  #endFollowing: (error: Error) => void = () => undefined;
  #isClosed = false;

  constructor(caller: StoreCaller) {
    this.#caller = caller;
    this.#closing = new Promise((_resolve, reject) => {
      this.#endFollowing = reject;
    });
    this.#closing.catch(() => undefined);
  }

  /** Waits for the calls that are under way. Later ones are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endFollowing(closed());
    await Promise.allSettled(this.#underWay);
  }

  over(ledgers: LedgerStore, scope: Scope): LedgerStore {
    // Random keys would make addresses that no seed repeats.
    const key = Buffer.from(sha256(JSON.stringify([scope.tenant, scope.app])), 'hex');
    const methods: Partial<Record<keyof LedgerStore, unknown>> = {
      addressKey: async () => key,
      putBlob: (bytes: Uint8Array, address = blobAddress(scope, bytes, key)) =>
        this.call('putBlob', [bytes, address], () => ledgers.putBlob(bytes, address)),
      post: (session: string, item: InboxItem, options?: PostOptions) =>
        this.#post(ledgers, session, item, options),
    };
    return new Proxy(ledgers, {
      get: (target, name: keyof LedgerStore) => {
        const given = methods[name];
        if (given !== undefined) return given;
        const method = target[name] as unknown;
        if (typeof method !== 'function') return method;
        const act = (args: readonly unknown[]): unknown => Reflect.apply(method, target, args);
        methods[name] = streaming.has(name)
          ? (...args: unknown[]) => this.#stream(name, args, act(args) as AsyncIterable<unknown>)
          : (...args: unknown[]) =>
              this.call(name, args, () => act(args) as Promise<unknown>, aboutOf(args));
        return methods[name];
      },
    });
  }

  /** Carries a call to the store and its answer back. */
  call<Answer>(
    name: string,
    args: unknown,
    act: () => Promise<Answer>,
    about = '',
  ): Promise<Answer> {
    const carried = this.#isClosed ? Promise.reject(closed()) : this.#carry(name, args, act, about);
    this.#underWay.add(carried);
    const forget = (): void => void this.#underWay.delete(carried);
    carried.then(forget, forget);
    return carried;
  }

  async #carry<Answer>(
    name: string,
    args: unknown,
    act: () => Promise<Answer>,
    about: string,
  ): Promise<Answer> {
    const { machine, plan, process, world } = this.#caller;
    if (process.isDead) return never();
    const visited = plan.visit(`${machine}/${name}${about}`);
    const isIdle = idle.has(name);
    const share = isIdle ? idleShare : 1;
    world.note(`${process.name} ${visited} ${isIdle ? '' : contentHash(toText(args))}`, isIdle);
    this.#mayStop(`${visited} before`, share);
    await this.#inOrder(about, this.#way(`${visited} call`));
    if (process.isDead) return never();
    if (plan.happens('refusedCall', visited, share)) {
      world.note(`${process.name} ${visited} is refused`);
      process.troubled();
      throw unavailable('the call was lost on its way');
    }
    // The answer is made in the store, whatever becomes of the process meanwhile.
    const answer = act();
    answer.catch(() => undefined);
    this.#mayStop(`${visited} after`, share);
    if (plan.happens('slowStore', visited, share)) {
      const delay = this.#delay(`${visited} slow`, slowestAnswer);
      process.troubled(delay);
      await world.wait(delay);
    }
    if (plan.happens('pause', visited, share)) {
      process.pause(world.draws.delay(`${visited} pause`, ...pauses));
      world.note(`${process.name} stands still at ${visited}`);
    }
    // The process gets the answer when it goes on.
    await process.wait(this.#delay(`${visited} answer`));
    if (plan.happens('lostAnswer', visited, share)) {
      world.note(`${process.name} ${visited} has acted, its answer is lost`);
      process.troubled();
      throw unavailable('the answer was lost on its way');
    }
    return answer;
  }

  /** Waits for the way of a call, and for those of earlier calls about the same session. */
  async #inOrder(about: string, way: Promise<void>): Promise<void> {
    const arrival = Promise.all([this.#onTheirWay.get(about), way]);
    this.#onTheirWay.set(about, arrival);
    await arrival;
    if (this.#onTheirWay.get(about) === arrival) this.#onTheirWay.delete(about);
  }

  /** Posts an item, and perhaps posts it again: the sender did not hear that it had arrived. */
  #post(
    ledgers: LedgerStore,
    session: string,
    item: InboxItem,
    options: PostOptions | undefined,
  ): Promise<unknown> {
    const { machine, plan, process, world } = this.#caller;
    const visited = plan.visit(`${machine}/post twice ${session}`);
    if (plan.happens('doublePost', visited)) {
      const delay = world.draws.delay(visited, fastest, slowestAnswer);
      void world.wait(delay).then(() => {
        world.note(`${process.name} ${visited} ${item.key}`);
        return ledgers.post(session, item, options).catch(() => undefined);
      });
    }
    // The text of a post without options is the one that seeds were recorded with.
    const args = options === undefined ? [session, item] : [session, item, options];
    return this.call('post', args, () => ledgers.post(session, item, options), ` ${session}`);
  }

  async *#stream(name: string, args: readonly unknown[], pages: AsyncIterable<unknown>) {
    const { machine, plan, process, world } = this.#caller;
    if (process.isDead) return never();
    if (this.#isClosed) throw closed();
    const visited = plan.visit(`${machine}/${name}${aboutOf(args)}`);
    world.note(`${process.name} ${visited}`);
    this.#mayStop(`${visited} before`);
    const iterator = pages[Symbol.asyncIterator]();
    try {
      for (let page = 0; ; page++) {
        await this.#way(`${visited} page ${page}`);
        if (process.isDead) return await never();
        if (name !== 'follow' && plan.happens('refusedCall', `${visited} page ${page}`))
          throw unavailable('a page was lost on its way');
        const next = await Promise.race([iterator.next(), this.#closing]);
        if (process.isDead) return await never();
        if (next.done === true) return undefined;
        yield next.value;
      }
    } finally {
      // A reader that waits for the next event ends only with it.
      void iterator.return?.().catch(() => undefined);
    }
  }

  #mayStop(place: string, share = 1): void {
    const { plan, process, stop, world } = this.#caller;
    if (process.isDead || !plan.happens('stop', place, share)) return;
    world.note(`${process.name} is killed at ${place}`);
    stop();
  }

  #way(place: string, most = slowest): Promise<void> {
    return this.#caller.world.wait(this.#delay(place, most));
  }

  #delay(place: string, most = slowest): number {
    return this.#caller.world.draws.delay(place, fastest, most);
  }
}

function unavailable(reason: string): StoreUnavailableError {
  return new StoreUnavailableError({ store: 'simulated', reason });
}

function closed(): StoreUnavailableError {
  return unavailable('it is closed');
}

/** Text of arguments for the trace; bytes and signals are left out. */
function toText(args: unknown): string {
  const text = JSON.stringify(args, (_key, value: unknown) =>
    value instanceof Uint8Array || value instanceof AbortSignal ? undefined : value,
  );
  return JSON.stringify(defined({ text }));
}

/** Name of the session of a call, so that the calls of each session are counted alone. */
function aboutOf([first]: readonly unknown[]): string {
  if (typeof first === 'string') return ` ${first}`;
  const session = (first as { readonly session?: unknown } | undefined)?.session;
  return typeof session === 'string' ? ` ${session}` : '';
}
