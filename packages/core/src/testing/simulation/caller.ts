import type { Runtime } from '../../runtime.ts';
import type { MachineRoom } from './machine-room.ts';
import type { World } from './world.ts';

/** Milliseconds after which a caller asks again elsewhere. */
export const patienceMs = 120_000;
const againMs = 1_000;

/** How a call came out: `done`, or the code of the error that refused it. */
export type CallOutcome = 'done' | (string & {});

/** A call of people at an app. */
export interface CallOfPeople {
  /** Place of its draws. */
  readonly place: string;
  /** Words for the story. */
  readonly text: string;
  readonly make: (app: Runtime) => Promise<unknown>;
  /** Returns true for a refusal after which people try again. @default the store was away */
  readonly isPassing?: (code: string) => boolean;
}

/** Calls for people: at some process that lives, and at another one when that stays silent. */
export class Caller {
  readonly #world: World;
  readonly #room: MachineRoom;

  constructor(world: World, room: MachineRoom) {
    this.#world = world;
    this.#room = room;
  }

  /** Calls until an app has done it, or has refused it for good: processes come back. */
  async call({
    place,
    text,
    make,
    isPassing = (code) => code === 'store_unavailable',
  }: CallOfPeople): Promise<CallOutcome> {
    const world = this.#world;
    for (let asked = 1; ; asked++) {
      const found = this.#room.someApp(`${place} ${asked}`);
      if (found !== undefined) {
        world.note(`${text} at ${found.process.name}`);
        const making = make(found.app).then(
          () => 'done',
          (error: unknown) => codeOf(error),
        );
        const outcome = await Promise.race([making, world.wait(patienceMs).then(() => 'silent')]);
        world.note(`${text}: ${outcome}`);
        if (outcome !== 'silent' && !isPassing(outcome)) return outcome;
      }
      await world.wait(againMs);
    }
  }
}

export function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code ?? error);
}
