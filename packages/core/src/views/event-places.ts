import { defined } from '../base/defined.ts';
import type { Event } from '../ledger/event.ts';
import { enclosingInvocation } from '../ledger/folds/invocation-fold.ts';
import { rootOf } from '../ledger/path.ts';

/** The place of an event in its session; empty for events that belong to no invocation. */
export interface EventPlace {
  /** Id of the run. */
  readonly run?: string;
  /** Path of the invocation. */
  readonly path?: string;
  /** Name of the nearest invocation around the event. */
  readonly agent?: string;
}

/** Finds the run, the path and the agent of an event. */
export class EventPlaces {
  readonly #names = new Map<string, string>();

  constructor(events: readonly Event[]) {
    for (const event of events)
      if (event.type === 'invocation_start') this.#names.set(event.invocationId, event.name);
  }

  of({ invocationId: path }: Event): EventPlace {
    if (path === undefined) return {};
    const agent = this.#names.get(path) ?? enclosingInvocation(this.#names, path);
    return defined({ run: rootOf(path), path, agent });
  }
}
