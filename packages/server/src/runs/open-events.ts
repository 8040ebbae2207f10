import type { Event } from 'adjutant';

/**
 * The word that tells an event from others of its type: the tool, the component of a decision, the
 * round of a model call, the runnable.
 */
export function outlineName(event: Event): string | undefined {
  switch (event.type) {
    case 'tool_call':
    case 'tool_result':
    case 'tool_yield':
    case 'invocation_start':
      return event.name;
    case 'decision':
      return event.component;
    case 'model_start':
    case 'model_end':
      return String(event.round);
    case 'handoff':
      return event.to;
    default:
      return undefined;
  }
}

/** Events that wait for the one that ends them: calls, model calls, requests, invocations. */
export class OpenEvents {
  readonly #open = new Map<string, number>();

  /** Takes an event. @returns `seq` of the event that it ends; 0 for none */
  take(event: Event): number {
    switch (event.type) {
      case 'invocation_start':
      case 'invocation_reopen':
        return this.#begin(`invocation ${event.invocationId}`, event.seq);
      case 'invocation_end':
        return this.#end(`invocation ${event.invocationId}`);
      case 'model_start':
        return this.#begin(`model ${event.invocationId}`, event.seq);
      case 'model_end':
        return this.#end(`model ${event.invocationId}`);
      case 'tool_call':
        return this.#begin(`call ${event.callId}`, event.seq);
      case 'tool_attempt':
        // An effect has no call: its first attempt begins it.
        return this.#open.has(`call ${event.callId}`)
          ? 0
          : this.#begin(`call ${event.callId}`, event.seq);
      case 'tool_result':
        return event.settled ? this.#end(`call ${event.callId}`) : 0;
      case 'tool_yield':
        return this.#begin(`request ${event.requestId}`, event.seq);
      case 'tool_input':
        return this.#end(`request ${event.requestId}`);
      default:
        return 0;
    }
  }

  #begin(key: string, seq: number): 0 {
    this.#open.set(key, seq);
    return 0;
  }

  #end(key: string): number {
    const start = this.#open.get(key) ?? 0;
    this.#open.delete(key);
    return start;
  }
}
