import type { StreamEvent } from 'adjutant';
import { defined } from './defined.ts';
import { type FollowOptions, follow } from './follow.ts';
import { Listing } from './listing.ts';
import { pause } from './ports.ts';
import { RunHandle } from './run-handle.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type {
  NewRun,
  RunListQuery,
  ServerRun,
  ServerRunOutline,
  StartedServerRun,
} from './types.ts';

/** Milliseconds before a run is looked for again that the server has not waited for. */
const lookAgainMs = 250;

/** For how long the server may keep one request that waits for a run. */
const waitMs = 30_000;

export interface WaitOptions extends CallOptions {
  /**
   * `rest`: until the run has ended or waits for somebody; `end`: until it has ended. @default
   * 'rest'
   */
  readonly until?: 'rest' | 'end';
}

/** Runs of agents: background jobs of the server. Rejects as `Sessions`. */
export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Starts a run, in a session that exists or in a new one; the open run of the session gets the
   * input as a message. It begins at once, and once however often the connection is lost meanwhile.
   */
  start<Output = unknown>(run: NewRun, options: WriteOptions = {}): RunHandle<Output> {
    const started = this.#transport.json<StartedServerRun>({
      method: 'POST',
      path: pathOf('runs'),
      body: run,
      ...options,
    });
    return new RunHandle<Output>(this.#transport, this, started);
  }

  /** The runs of a session, newest first. */
  list(
    session: string,
    query: RunListQuery = {},
    options: CallOptions = {},
  ): Listing<ServerRunOutline, 'runs'> {
    return new Listing('runs', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('sessions', session, 'runs'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }

  /** The run as it is now. */
  get<Output = unknown>(
    session: string,
    run: string,
    options: CallOptions = {},
  ): Promise<ServerRun<Output>> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('sessions', session, 'runs', run),
      ...options,
    });
  }

  /** Returns the run once it has ended or waits for a person or a process. */
  async wait<Output = unknown>(
    session: string,
    run: string,
    { until = 'rest', ...options }: WaitOptions = {},
  ): Promise<ServerRun<Output>> {
    const { clock } = this.#transport.options.ports;
    for (;;) {
      const asked = clock.monotonic();
      const found = await this.#transport.json<ServerRun<Output>>({
        method: 'GET',
        path: pathOf('sessions', session, 'runs', run),
        query: { wait: waitMs },
        waitsMs: waitMs,
        ...options,
      });
      if (found.status === 'running' || found.status === 'accepted') {
        // A server that closes does not wait.
        if (clock.monotonic() - asked < waitMs / 2) await pause(clock, lookAgainMs, options.signal);
        continue;
      }
      if (found.status !== 'waiting' || until === 'rest') return found;
      await this.#ended(session, found.id, options);
    }
  }

  /** Resolves when a run has ended that waits now, however long that takes. */
  async #ended(session: string, run: string, options: CallOptions): Promise<void> {
    const { seq } = await this.#transport.json<{ readonly seq: number }>({
      method: 'GET',
      path: pathOf('sessions', session),
      ...options,
    });
    const events = this.follow(session, run, { after: seq, ...options });
    // Only its end is of interest: the stream says so by ending.
    for await (const _ of events) options.signal?.throwIfAborted();
    options.signal?.throwIfAborted();
  }

  /** The events of a run, as they come, up to its end; as `sessions.follow`. */
  follow(
    session: string,
    run: string,
    options: FollowOptions = {},
  ): AsyncIterableIterator<StreamEvent> {
    return follow(this.#transport, {
      ...options,
      path: pathOf('sessions', session, 'runs', run, 'stream'),
      isWhole: false,
    });
  }

  /** Ends the run as cancelled. Resolves when that is stored, and not when it has ended. */
  cancel(
    session: string,
    run: string,
    { reason, ...options }: WriteOptions & { readonly reason?: string } = {},
  ): Promise<ServerRun> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('sessions', session, 'runs', run, 'cancel'),
      body: defined({ reason }),
      ...options,
    });
  }
}
