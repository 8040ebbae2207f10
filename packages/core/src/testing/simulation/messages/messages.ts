import { defined } from '../../../base/defined.ts';
import type { RequestRow } from '../../../ledger/port.ts';
import type { Caller } from '../caller.ts';
import type { World } from '../world.ts';

/** Milliseconds after which people answer in another way what their message has not answered. */
const patience = { least: 60_000, most: 900_000 };

/** A message of people to a session. */
export interface SaidMessage {
  readonly session: string;
  readonly text: string;
  /** Request that it is meant for. */
  readonly requestId: string;
  /** True when an app has confirmed it. */
  isConfirmed: boolean;
}

/** Messages of people in the place of answers, by their keys. */
export class AnsweringMessages {
  readonly said = new Map<string, SaidMessage>();
  readonly #world: World;
  readonly #caller: Caller;

  constructor(world: World, caller: Caller) {
    this.#world = world;
    this.#caller = caller;
  }

  /**
   * Sends a message, and waits for as long as people wait for what it brings.
   * @param lane lane of the run that asks. Missing: the default lane.
   */
  async say(
    { callId, requestId, session }: RequestRow,
    place: string,
    { lane, text }: { readonly text: string; readonly lane: string | undefined },
  ) {
    const world = this.#world;
    const clientKey = `people/${place}`;
    const message: SaidMessage = { session, text, requestId, isConfirmed: false };
    this.said.set(clientKey, message);
    const outcome = await this.#caller.call({
      place,
      text: `${callId} is answered by the message ${JSON.stringify(text)}`,
      make: (app) => app.send(session, text, defined({ clientKey, lane })),
    });
    message.isConfirmed = outcome === 'done';
    await world.wait(world.draws.delay(`${place} patience`, patience.least, patience.most));
  }
}
