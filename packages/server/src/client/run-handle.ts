import type { StreamEvent } from 'adjutant';
import { defined } from './defined.ts';
import { isServerProblem } from './errors.ts';
import { type FollowOptions, follow } from './follow.ts';
import { pause } from './ports.ts';
import { pathOf, type Transport } from './transport.ts';
import type { ServerRun, StartedServerRun } from './types.ts';

/** The calls to the server that a handle makes for its run. */
interface RunCalls {
  get(session: string, run: string): Promise<ServerRun>;
  wait<Output>(session: string, run: string): Promise<ServerRun<Output>>;
  cancel(session: string, run: string, options: { readonly reason?: string }): Promise<ServerRun>;
}

/** Milliseconds after which a run is looked for again that has not begun yet. */
const lookAgainMs = 250;

/**
 * A run on a server. Await it for what became of it, or iterate over it for its events; both may be
 * done, and neither drives it: it goes on when nobody listens.
 *
 * Awaiting resolves when the run has ended or waits for somebody (`status` says which), and rejects
 * only when the start is refused or the server cannot be reached. A run that failed is a result
 * with the status `error`. Each iteration gives all events of the run from its beginning up to its
 * end, also while it waits in between.
 */
export class RunHandle<Output = unknown>
  implements PromiseLike<ServerRun<Output>>, AsyncIterable<StreamEvent>
{
  readonly #transport: Transport;
  readonly #runs: RunCalls;
  readonly #started: Promise<StartedServerRun>;
  #result: Promise<ServerRun<Output>> | undefined;

  constructor(transport: Transport, runs: RunCalls, started: Promise<StartedServerRun>) {
    this.#transport = transport;
    this.#runs = runs;
    this.#started = started;
    // A caller that awaits or iterates receives the error; a caller need not do either.
    started.catch(() => undefined);
  }

  /**
   * Resolves when the start is stored, so that it is carried out whatever happens: with the ids of
   * the session and the run.
   */
  accepted(): Promise<StartedServerRun> {
    return this.#started;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaitable by design
  then<Fulfilled = ServerRun<Output>, Rejected = never>(
    onFulfilled?: ((run: ServerRun<Output>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#result ??= this.#started.then(({ session, asked }) =>
      this.#runs.wait<Output>(session, asked),
    );
    return this.#result.then(onFulfilled, onRejected);
  }

  /** As with any promise. */
  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<ServerRun<Output> | Rejected> {
    return this.then(undefined, onRejected);
  }

  /** As with any promise. */
  finally(onEnd?: (() => void) | null): Promise<ServerRun<Output>> {
    return this.then().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    return this.follow()[Symbol.asyncIterator]();
  }

  /** The events of the run, from a place on. Leaving the iteration does not stop the run. */
  async *follow(options: FollowOptions = {}): AsyncGenerator<StreamEvent, void> {
    const { session, asked } = await this.#started;
    let { id } = await this.#started;
    for (;;) {
      try {
        yield* follow(this.#transport, {
          ...options,
          path: pathOf('sessions', session, 'runs', id, 'stream'),
          isWhole: false,
        });
        return;
      } catch (error) {
        if (!isServerProblem(error, 'run_not_found')) throw error;
        // It has been stored for the process that works on the session, which has not reached it
        // yet.
        const run = await this.#runs.get(session, asked);
        if (run.status === 'accepted')
          await pause(this.#transport.options.ports.clock, lookAgainMs, options.signal);
        else if (run.id === id) throw error;
        id = run.id;
      }
    }
  }

  /** Ends the run as cancelled. Resolves when that is stored, and not when it has ended. */
  async cancel(reason?: string): Promise<void> {
    const { session, asked } = await this.#started;
    await this.#runs.cancel(session, asked, defined({ reason }));
  }
}
