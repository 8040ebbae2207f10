import {
  type Event,
  memoryStore,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Session,
  type Store,
} from 'adjutant';
import type { IdSource } from 'adjutant/ports';
import { crashingStore, takingOver, tickingClock } from 'adjutant/testing';

/** The tested definitions: the same in every process but for an edit. */
export interface Definition {
  readonly runnable: Runnable;
  readonly options?: Partial<RuntimeOptions>;
}

/** The divergence that an edit must lead to. */
export interface Expected {
  readonly seq: number;
  readonly path: string;
  readonly kind: string;
  /** The whole sentence. */
  readonly subject: string;
}

/** A ledger that is kept as a fixture, the code that wrote it, and edits of that code. */
export interface KeptLedger {
  readonly name: string;
  /** Part of it that is hard to replay. */
  readonly holds: string;
  /** @param edit the name of one of `edits` @default the code as it was */
  define(edit?: string): Definition;
  record(recording: Recording): Promise<Session>;
  readonly edits: Readonly<Record<string, Expected>>;
}

const appName = 'replayed';
const runId = 'run';
const sessionId = 'the-session';
const start = Date.UTC(2026, 0, 5, 9);
const hourMs = 3_600_000;

/** The runtime of a definition, as each process has it. */
export function appOf(
  { runnable, options }: Definition,
  more: Partial<RuntimeOptions> = {},
): Runtime {
  const runnables = [runnable, ...(options?.runnables ?? [])];
  return runtime({ app: appName, recover: 'manual', ...options, ...more, runnables });
}

/** Ids that are the same whenever a ledger is recorded, and other ones in each process. */
function countedIds(process: number): IdSource {
  let count = 0;
  return { next: () => `p${process}${'0'.repeat(8)}x${(count++).toString(36).padStart(5, '0')}` };
}

/**
 * Records a ledger: processes that come one after the other, hours apart, with times and ids that
 * are the same each time.
 */
export class Recording {
  readonly #define: () => Definition;
  readonly #clock = tickingClock(start);
  readonly store: Store = memoryStore({ clock: this.#clock });
  #processes = 0;
  #now: { readonly app: Runtime; readonly runnable: Runnable } | undefined;

  constructor(define: () => Definition) {
    this.#define = define;
  }

  /** A process of its own, which begins an hour after the one before it. */
  process(store: Store = takingOver(this.store)): Runtime {
    const number = this.#processes++;
    const definition = this.#define();
    const app = appOf(definition, {
      store,
      ports: { clock: tickingClock(start + number * hourMs), ids: countedIds(number) },
    });
    this.#now = { app, runnable: definition.runnable };
    return app;
  }

  /** The process that works now. */
  get app(): Runtime {
    return this.#now?.app ?? this.process();
  }

  get #runnable(): Runnable {
    if (this.#now === undefined) throw new Error('No process has begun.');
    return this.#now.runnable;
  }

  session(app = this.app, id = sessionId): Promise<Session> {
    return app.sessions.open({ id });
  }

  /** Runs it to its end, or to where it waits. */
  async run(input: string, session = this.session(), id = runId): Promise<Session> {
    const open = await session;
    return (await this.app.run(this.#runnable, { input, session: open, runId: id })).session;
  }

  /**
   * Starts it in a process that is gone as soon as an event is there; what is under way then never
   * comes to anything.
   */
  async crashAt(input: string, isPlace: (event: Event) => boolean): Promise<void> {
    const crashing = crashingStore(takingOver(this.store));
    const app = this.process(crashing.store);
    const session = await this.session(app);
    const { promise: isThere, resolve } = Promise.withResolvers<void>();
    session.ledger.onDraft((event) => isPlace(event) && resolve());
    void Promise.resolve(app.run(this.#runnable, { input, session, runId })).catch(() => undefined);
    await isThere;
    await session.ledger.durable();
    await crashing.crash();
  }

  /** Continues what is open, in a process of its own. */
  async goOn(id = sessionId): Promise<Session> {
    return (await this.process().resume(id)).session;
  }

  /** Answers what the session asks, in the order of the calls, and goes on in the same process. */
  async answer(
    session: Session,
    ...answers: readonly Parameters<Runtime['requests']['answer']>[1][]
  ): Promise<Session> {
    const pending = [...session.ledger.requests.values()].sort((a, b) =>
      a.callId < b.callId ? -1 : 1,
    );
    for (const [index, answer] of answers.entries())
      await this.app.requests.answer(pending[index]?.requestId ?? '', answer);
    return (await this.app.resume(session)).session;
  }
}
