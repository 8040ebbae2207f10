import { isAdjutantError } from '../../base/error.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import type { PublishedEvent } from '../../ledger/decisions/service-decisions.ts';
import type { Actor } from '../../ledger/event.ts';
import type { LedgerPorts } from '../../ledger/ledger-ports.ts';
import {
  firstSession,
  notifierKind,
  serviceKind,
  serviceTurn,
} from '../../ledger/port/service-sessions.ts';
import type { LedgerStore, StoreAdmin, Taken, TakeReceipt } from '../../ledger/port.ts';
import { Outbox } from './outbox.ts';
import type {
  AttachedService,
  RequestNews,
  Service,
  ServiceHost,
  ServicePart,
  ServicePost,
} from './service.ts';
import { type ServicePlace, ServiceRunner } from './service-runner.ts';
import { topicService } from './topics.ts';

/** Milliseconds between two looks for services when nothing is known to be due. */
const lookEveryMs = 5_000;
/** The same for an app without parts: it only hands events on that ended processes have left. */
const idleLookEveryMs = 60_000;

export interface AppServicesParts
  extends Omit<ServiceHost, 'post' | 'advance' | 'awaited' | 'newest' | 'channels'> {
  readonly admin: StoreAdmin;
  readonly parts: readonly ServicePart[];
  readonly rollAfter?: number | undefined;
  readonly take: (request: {
    readonly tenant: string | undefined;
    readonly names: readonly string[];
    readonly slots: number;
  }) => Promise<TakeReceipt>;
  readonly giveBack: (taken: Taken, at: number) => Promise<unknown>;
  readonly ledgerPorts: (tenant: string) => LedgerPorts;
  /** Hands an event to those who listen in the processes of the app. */
  readonly live: (event: PublishedEvent) => Promise<unknown>;
  /** Called with an instant at which a session of a service, or any of them, is due. */
  readonly wakeAt: (at: number, of?: ServicePlace) => void;
  /** Lets recovery look soon. */
  readonly lookAgain: () => void;
  /** Called when an item was posted to a session. */
  readonly posted: (place: { readonly tenant: string; readonly session: string }) => void;
}

/** The services of one app: its parts, their sessions, and the messages between ledgers. */
export class ServicesOfApp {
  readonly outbox: Outbox;
  readonly #parts: AppServicesParts;
  readonly #attached: ReadonlyMap<string, AttachedService>;
  readonly #runner: ServiceRunner;
  /** All services of the app. */
  readonly all: readonly Service[];
  readonly #begun = new Map<string, Promise<void>>();
  #isHinted = true;
  /** Monotonic time of the last look, and the instant at which the next service is due. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(parts: AppServicesParts) {
    const { admin, app, clock, giveBack, host, ledgerPorts, ledgers, posted, take } = parts;
    this.#parts = parts;
    const warn = (what: string, error: unknown): void => this.#warn(what, error);
    this.outbox = new Outbox({ app, clock, admin, ledgers, posted, warn });
    const serviceHost: ServiceHost = {
      ...parts,
      channels: () => this.channels,
      post: (tenant, post) => this.post(tenant, post),
      newest: async (tenant, kind, name) => {
        const store = ledgers(tenant);
        const session = await this.#newest(store, kind, name);
        return (await store.head(session)) === undefined ? undefined : session;
      },
      advance: (tenant, runnable) => this.#advance(tenant, runnable),
      awaited: (tenant, runnable) => this.#runner.awaited(tenant, runnable),
    };
    this.#attached = new Map(parts.parts.map((part) => [part.kind, part.attach(serviceHost)]));
    for (const { check } of this.#attached.values()) check?.();
    const live = (event: PublishedEvent): void =>
      void parts.live(event).catch((error: unknown) => warn('An event was not announced', error));
    const services = [...this.#attached.values()].map(({ service }) => service);
    this.all = [topicService(live), ...services];
    const { rollAfter } = parts;
    const wakeAt = (at: number, of?: ServicePlace): void => this.#wakeAt(at, of);
    const lookAgain = (): void => {
      this.hint();
      parts.lookAgain();
    };
    this.#runner = new ServiceRunner({
      ...{ clock, host, rollAfter, take, ledgerPorts, giveBack, wakeAt, lookAgain, warn },
      services: this.all,
    });
  }

  /** The part of a kind, as the callers of a tenant see it; `undefined` when the app has none. */
  of(kind: string, tenant: string): unknown {
    return this.#attached.get(kind)?.of(tenant);
  }

  /** Names of the channels of the app; `undefined` when it can send no notices. */
  get channels(): readonly string[] | undefined {
    return this.#attached.get(notifierKind)?.channels;
  }

  /** Tells the part that wants to know of requests; `undefined` when none does. */
  get onRequest(): ((news: RequestNews) => Promise<void>) | undefined {
    return [...this.#attached.values()].find(({ onRequest }) => onRequest !== undefined)?.onRequest;
  }

  /** Announces that a service may have something to do. */
  hint(): void {
    this.#isHinted = true;
  }

  /** Each look of recovery passes here, and most of them are for runs alone. */
  #isTimeToLook(): boolean {
    const { clock } = this.#parts;
    const passed = clock.monotonic() - this.#lookedAt;
    const every = this.#attached.size === 0 ? idleLookEveryMs : lookEveryMs;
    if (!this.#isHinted && passed < every && clock.now() < this.#nextAt) return false;
    this.#isHinted = false;
    this.#lookedAt = clock.monotonic();
    this.#nextAt = Number.POSITIVE_INFINITY;
    return true;
  }

  #wakeAt(at: number, of: ServicePlace | undefined): void {
    this.#nextAt = Math.min(this.#nextAt, at);
    this.#parts.wakeAt(at, of);
  }

  /**
   * Delivers what is left, and begins to work on what is due, in the background.
   * @throws StoreUnavailableError
   */
  async look(tenant: string | undefined, home: string): Promise<number> {
    if (!this.#isTimeToLook()) return 0;
    await this.#begin(tenant ?? home);
    await this.outbox.sweep(tenant);
    return (await this.#runner.look(tenant)).count;
  }

  /**
   * Delivers and works until nothing is due any more.
   * @throws StoreUnavailableError
   */
  async finish(tenant: string | undefined, home: string): Promise<void> {
    await this.#begin(tenant ?? home);
    for (;;) {
      await this.outbox.sweep(tenant, 0);
      // Work under way may hold all places of a service.
      await this.#runner.settled();
      const { count } = await this.#runner.look(tenant);
      await this.#runner.settled();
      await this.outbox.settled();
      if (count === 0) return;
    }
  }

  /** Works on the sessions of one name until none of them is due. */
  async #advance(tenant: string, runnable: string): Promise<void> {
    for (;;) {
      const { count, done } = await this.#runner.look(tenant, runnable);
      await done;
      // A session that has rolled passes on what came.
      await this.outbox.settled();
      if (count === 0) return;
    }
  }

  /** Lets the parts do once for a tenant what they do at the start, such as to declare. */
  #begin(tenant: string): Promise<void> {
    let begun = this.#begun.get(tenant);
    if (begun === undefined) {
      const parts = [...this.#attached.values()];
      begun = Promise.all(parts.map(({ begin }) => begin?.(tenant))).then(() => undefined);
      // After a failure, the next look tries again.
      begun.catch(() => this.#begun.delete(tenant));
      this.#begun.set(tenant, begun);
    }
    return begun;
  }

  async stop(): Promise<void> {
    this.outbox.stop();
    await this.#runner.stop();
    await this.outbox.settled();
  }

  /**
   * Posts an item to a service, whose session is made if it is not there. It goes to the first one,
   * which passes it on: only there an item that comes twice is known as one.
   * @throws SessionGoneError, StoreUnavailableError
   */
  async post(tenant: string, post: ServicePost): Promise<{ readonly duplicate: boolean }> {
    const { kind, name, runnable = kind } = post;
    const { clock, ledgers, posted } = this.#parts;
    const store = ledgers(tenant);
    const session = firstSession(kind, name);
    const { duplicate } = await store.post(
      session,
      {
        key: post.key,
        lane: 'input',
        by: (post.by ?? 'runtime') as Actor,
        at: clock.now(),
        type: 'service',
        data: post.data,
      },
      {
        open: true,
        turn: serviceTurn(runnable, name),
        ...(post.rows === undefined ? {} : { rows: post.rows }),
      },
    );
    posted({ tenant, session });
    return { duplicate };
  }

  async #newest(store: LedgerStore, kind: string, name: string): Promise<string> {
    const [row] = await store.rows({ kind: serviceKind, id: `${kind}:${name}`, limit: 1 });
    const session = row?.body['session'];
    return typeof session === 'string' ? session : firstSession(kind, name);
  }

  #warn(what: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = isAdjutantError(error) ? error.code : 'service_failed';
    this.#parts.host.warn(visibleLine(`${what}: ${message}`), code);
  }
}
