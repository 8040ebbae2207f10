import { defined } from '../../../base/defined.ts';
import type { Caller } from '../caller.ts';
import type { World } from '../world.ts';
import type { SimulatedEvent } from './simulated-event.ts';

/** Events that people publish from outside of all runs. */
export class EventsOfPeople {
  /** Ids of those whose publication was confirmed. */
  readonly confirmed = new Set<string>();
  readonly #world: World;
  readonly #caller: Caller;
  #count = 0;

  constructor(world: World, caller: Caller) {
    this.#world = world;
    this.#caller = caller;
  }

  /** True when each event that people wanted to publish is confirmed. */
  get areConfirmed(): boolean {
    return this.confirmed.size === this.#count;
  }

  /** Publishes events at drawn times within so many milliseconds. */
  begin(events: readonly SimulatedEvent[], withinMs: number): void {
    for (const [index, { times = 1, ...event }] of events.entries())
      for (let time = 1; time <= times; time++) {
        const id = `event${index}-${time}`;
        this.#count++;
        const at = this.#world.draws.at(`publish ${id}`) * withinMs;
        this.#world.after(at, () => void this.#publish({ ...event, id }));
      }
  }

  async #publish(event: Omit<SimulatedEvent, 'times'> & { readonly id: string }): Promise<void> {
    const { data, id, source, type } = event;
    const outcome = await this.#caller.call({
      place: `publish ${id}`,
      text: `${id} is published`,
      make: (app) => app.publish({ type, id, ...defined({ data, source }) }),
    });
    if (outcome === 'done') this.confirmed.add(id);
  }
}
