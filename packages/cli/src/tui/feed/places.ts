import type { Event, EventOf } from 'adjutant';

/** Work of a called agent, with the newest thing that it did. */
export interface ChildWork {
  readonly path: string;
  readonly name: string;
  readonly input: string;
  readonly depth: number;
  readonly startedAt: number;
  readonly newest: string;
  readonly isWaiting: boolean;
  readonly rounds: number;
  readonly tokens: number;
  readonly cost: number;
}

/** Modes of invocations whose answers are part of the conversation. */
const ofConversation: ReadonlySet<string> = new Set(['root', 'transfer', 'child']);

/**
 * The invocations of a session by their paths: those that the conversation consists of, and the
 * work of agents that they call.
 */
export class Places {
  readonly #isShown = new Map<string, boolean>();
  readonly #children = new Map<string, ChildWork>();

  /** True for an invocation whose answers and calls are part of the conversation. */
  isShown(path: string | undefined): boolean {
    return path === undefined || (this.#isShown.get(path) ?? !path.includes('/'));
  }

  /** Work of called agents that has not ended, in the order in which it began. */
  get children(): readonly ChildWork[] {
    return [...this.#children.values()];
  }

  start({ invocationId, parent, mode, name, input, at }: EventOf<'invocation_start'>): void {
    const isShown = ofConversation.has(mode) && (parent === undefined || this.isShown(parent));
    this.#isShown.set(invocationId, isShown);
    if (isShown || ofConversation.has(mode)) return;
    const around = this.#childAt(parent);
    this.#children.set(invocationId, {
      path: invocationId,
      name,
      input: inputText(input),
      depth: around === undefined ? 0 : around.depth + 1,
      startedAt: at,
      newest: '',
      isWaiting: false,
      rounds: 0,
      tokens: 0,
      cost: 0,
    });
  }

  /** Ends the work of a called agent, and returns it. */
  end(path: string): ChildWork | undefined {
    const child = this.#children.get(path);
    this.#children.delete(path);
    return child;
  }

  /** Forgets the work of called agents, because their run is over. */
  clear(): void {
    this.#children.clear();
  }

  /** Takes in what a called agent did. */
  take(event: Event): void {
    const child = this.#childAt(event.invocationId);
    if (child === undefined) return;
    const next = changedBy(child, event);
    if (next !== child) this.#children.set(child.path, next);
  }

  #childAt(path: string | undefined): ChildWork | undefined {
    if (path === undefined || this.#children.size === 0) return undefined;
    const around = [...this.#children.keys()].filter(
      (one) => path === one || path.startsWith(`${one}/`) || path.startsWith(`${one}>`),
    );
    return this.#children.get(around.reduce((a, b) => (b.length > a.length ? b : a), ''));
  }
}

function changedBy(child: ChildWork, event: Event): ChildWork {
  switch (event.type) {
    case 'model_start':
      return { ...child, newest: 'thinking', isWaiting: false, rounds: event.round };
    case 'model_end':
      return {
        ...child,
        tokens: child.tokens + event.usage.inputTokens + event.usage.outputTokens,
        cost: child.cost + (event.cost ?? 0),
      };
    case 'tool_call':
      return { ...child, newest: event.name, isWaiting: false };
    case 'tool_yield':
      return { ...child, newest: event.name, isWaiting: true };
    case 'tool_input':
      return { ...child, isWaiting: false };
    default:
      return child;
  }
}

function inputText(input: EventOf<'invocation_start'>['input']): string {
  if (input?.message !== undefined) return input.message;
  return input?.data === undefined ? '' : JSON.stringify(input.data);
}
