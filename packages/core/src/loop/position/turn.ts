/** Turns of the conversation, and news for the model. */
export interface TurnState {
  /**
   * Number of model calls before which a message had arrived or the invocation was reopened. Calls
   * that were useless in an earlier turn may be repeated in a new one.
   */
  number: number;
  /**
   * True when the next model call opens a turn. A message has arrived, or the invocation was
   * reopened, since the last call.
   */
  isDue: boolean;
  /**
   * Number of messages, ends of spawned children and late results that no prompt has contained yet.
   */
  unseen: number;
}

export function startTurns(): TurnState {
  return { number: 0, isDue: false, unseen: 0 };
}

/** Folds the start of a model call, whose prompt contains all news. */
export function beginTurn(turn: TurnState): void {
  if (turn.isDue) turn.number++;
  turn.isDue = false;
  turn.unseen = 0;
}

/** Folds a message. */
export function addMessage(turn: TurnState): void {
  turn.unseen++;
  turn.isDue = true;
}
