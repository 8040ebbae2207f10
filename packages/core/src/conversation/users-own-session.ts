import type { RunResult } from '../engine/run/run.ts';
import type { Event } from '../ledger/event.ts';
import type { Store, StoreAdmin } from '../ledger/port.ts';
import type { Runtime } from '../runtime.ts';
import type { Runnable } from '../session/runnable.ts';
import type { Session } from '../session/session.ts';
import { SimulatedUserError } from './errors.ts';
import type { ConversationView } from './user.ts';

/** Runtimes over the stores of others: what plays a user is no part of the app that it talks to. */
const runtimesFor = new WeakMap<object, WeakMap<Runtime, Runtime>>();

/**
 * A runtime of its own for what plays a user, on the store of the app. Nothing else may run or
 * recover there.
 */
async function runtimeBeside(owner: object, { app, session }: ConversationView): Promise<Runtime> {
  const known = runtimesFor.get(owner) ?? new WeakMap<Runtime, Runtime>();
  runtimesFor.set(owner, known);
  const found = known.get(app);
  if (found !== undefined) return found;
  const { Runtime } = await import('../runtime.ts');
  const { store: ledgers, clock, ids } = session.ledger.ports;
  // Only the ledgers of this tenant and app: what is done for all of them is for the app itself.
  const admin: StoreAdmin = {
    due: async () => [],
    take: async () => ({ taken: [], nextAt: null, now: await ledgers.now() }),
    sends: async () => [],
    replaceRows: async () => ({ replaced: false, now: await ledgers.now() }),
    sweepBlobs: async () => 0,
  };
  const store: Store = {
    description: `the store of ${app.app}`,
    admin,
    for: () => ledgers,
    close: async () => undefined,
  };
  const made = new Runtime({
    app: app.app,
    tenant: app.tenant,
    store,
    recover: 'manual',
    ports: { clock, ids },
  });
  known.set(app, made);
  return made;
}

export interface AskOptions {
  /** Names what is asked, so that it is asked once, however often the conversation is taken up. */
  readonly name: string;
  /** Ask anew, although it has been answered under this name. */
  readonly again: boolean;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/**
 * The session in which a user thinks: a ledger of its own, so that what was said once is said again
 * after a stop, and not thought out anew.
 */
export class UsersOwnSession {
  readonly #runtime: Runtime;
  readonly #id: string;

  private constructor(runtime: Runtime, id: string) {
    this.#runtime = runtime;
    this.#id = id;
  }

  /**
   * @param runner the app that plays the user; missing: one beside that of the conversation, on its
   * store
   */
  static async of(
    owner: object,
    view: ConversationView,
    runner: Runtime | undefined,
    part: string,
  ): Promise<UsersOwnSession> {
    return new UsersOwnSession(
      runner ?? (await runtimeBeside(owner, view)),
      `${view.session.id}-${view.conversation}-${part}`,
    );
  }

  /** @throws SimulatedUserError */
  async ask(runnable: Runnable, { name, again, prompt, signal }: AskOptions): Promise<unknown> {
    const session = await this.#runtime.sessions.open({ id: this.#id });
    const runId = freeName(session as Session, name, again);
    const run = this.#runtime.run(runnable, { session: this.#id, input: prompt, runId });
    // Released and not cancelled: the run may go on later.
    const stop = (): void => run.stop();
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      return this.#outputOf(runnable, await run, runId);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #outputOf(runnable: Runnable, result: RunResult, runId: string): unknown {
    const refuse = (reason: string): never => {
      throw new SimulatedUserError({ runnable: runnable.name, session: this.#id, reason });
    };
    if (result.status === 'completed') return result.output;
    if (result.status !== 'yielded')
      return refuse(
        result.error === undefined ? `its run is ${result.status}.` : result.error.message,
      );
    const [call] = result.pendingCalls;
    if (call !== undefined) return refuse(`it waits for somebody itself: ${call.request.summary}`);
    return saidAfter(result.session, runId) ?? refuse('it said nothing.');
  }
}

/** A name under which nothing has failed yet, or nothing has been asked. */
function freeName({ ledger, events }: Session, name: string, again: boolean): string {
  const isUsed = (candidate: string): boolean =>
    ledger.invocations.byPath.has(candidate) ||
    events.some((event) => event.type === 'user' && event.clientKey === candidate);
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name}-${count}`;
    const status = ledger.invocations.byPath.get(candidate)?.status;
    const isOver = status === 'error' || status === 'cancelled' || (again && isUsed(candidate));
    if (!isOver) return candidate;
  }
}

/**
 * The last thing that was said after the message of this name and before the next one: what a loop
 * that waits again has answered.
 */
function saidAfter({ events, ledger }: Session, name: string): unknown {
  const from = events.findIndex((event) => event.type === 'user' && event.clientKey === name);
  const next = events.findIndex((event, place) => place > from && event.type === 'user');
  const between = events.slice(from + 1, next < 0 ? undefined : next);
  const said = between.findLast(
    (event): event is Extract<Event, { type: 'assistant' }> => event.type === 'assistant',
  );
  if (from < 0 || said === undefined) return undefined;
  return ledger.resolve(said.output ?? said.text);
}
