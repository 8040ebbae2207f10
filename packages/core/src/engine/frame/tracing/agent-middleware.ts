import type { StreamEvent } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { ancestorsOf } from '../../../ledger/path.ts';
import type { Middleware } from '../../../runnables/hooks.ts';
import type { Around } from '../../../runnables/operation.ts';
import type { Registry } from '../registry.ts';

/** Members of middleware that lie around an agent and around everything that it calls. */
type Watching = Pick<Middleware, 'onStream' | 'around'>;

const none: readonly Watching[] = [];

/**
 * Middleware of the agents of a run, by the invocations that it concerns: those of the agent, and
 * all below them.
 */
export class AgentMiddleware {
  readonly #registry: Pick<Registry, 'has' | 'get'>;
  readonly #ledger: Pick<Ledger, 'invocations'>;
  /** Middleware of the agents that this process works on. */
  readonly #own = new Map<string, readonly Watching[]>();
  /** Middleware that concerns an invocation, of the outermost agent first. */
  readonly #concerning = new Map<string, readonly Watching[]>();
  #isWatching = false;
  #isListening = false;

  constructor(registry: Pick<Registry, 'has' | 'get'>, ledger: Pick<Ledger, 'invocations'>) {
    this.#registry = registry;
    this.#ledger = ledger;
  }

  /** Takes the middleware of what begins or goes on here: none, unless it is an agent. */
  enter(path: string, middleware: readonly Middleware[]): void {
    const own = middleware.filter(isWatching);
    if (own.length > 0) {
      this.#own.set(path, own);
      this.#concerning.clear();
    }
    const found = this.#find(path);
    this.#isWatching ||= found.length > 0;
    this.#isListening ||= found.some(({ onStream }) => onStream !== undefined);
  }

  /** Tells the agents that an event concerns of it. Their errors are ignored. */
  hear(event: StreamEvent): void {
    if (!this.#isListening || event.invocationId === undefined) return;
    for (const { onStream } of this.#of(event.invocationId)) {
      try {
        onStream?.(event);
      } catch {
        // A listener that fails does not make the run fail.
      }
    }
  }

  /** True when an agent may hear the parts of answers. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Functions around the work of an invocation, the outermost first. */
  around(path: string): readonly Around[] {
    if (!this.#isWatching) return [];
    return this.#of(path).flatMap(({ around }) => around ?? []);
  }

  #of(path: string): readonly Watching[] {
    let found = this.#concerning.get(path);
    if (found === undefined) {
      found = this.#find(path);
      this.#concerning.set(path, found);
    }
    return found;
  }

  #find(path: string): readonly Watching[] {
    return [...ancestorsOf(path).toReversed(), path].flatMap((above) => this.#at(above));
  }

  /** Middleware of the agent at a path; of one that only called what goes on here, by its name. */
  #at(path: string): readonly Watching[] {
    const own = this.#own.get(path);
    if (own !== undefined) return own;
    const record = this.#ledger.invocations.byPath.get(path);
    if (record?.kind !== 'agent' || !this.#registry.has(record.name)) return none;
    const runnable = this.#registry.get(record.name);
    return runnable.kind === 'agent' ? runnable.middleware.filter(isWatching) : none;
  }
}

function isWatching({ onStream, around }: Middleware): boolean {
  return onStream !== undefined || around !== undefined;
}
