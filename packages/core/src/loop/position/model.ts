import type { EventOf, ModelEndEvent } from '../../ledger/event.ts';

/** Calls of the agent's model. */
export interface ModelState {
  /** Index of the model in use among the agent's models: 0 is the first model as it was given. */
  index: number;
  /** Number of rounds whose call has completed. */
  rounds: number;
  /** Last call; `end` is `undefined` while the call is open. */
  call: { readonly start: EventOf<'model_start'>; end: ModelEndEvent | undefined } | undefined;
  /** Number of attempts of the current round's call that ended as errors. */
  errors: number;
}

export function startModel(): ModelState {
  return { index: 0, rounds: 0, call: undefined, errors: 0 };
}

/** True when the start of a call opens a round, and does not repeat the call of the last one. */
export function opensRound({ call }: ModelState, { round }: EventOf<'model_start'>): boolean {
  return round !== call?.start.round;
}

/** Folds the start of a call. */
export function beginCall(model: ModelState, start: EventOf<'model_start'>): void {
  if (opensRound(model, start)) model.errors = 0;
  model.call = { start, end: undefined };
}

/** Folds the end of a call. */
export function endCall(model: ModelState, end: ModelEndEvent): void {
  if (model.call !== undefined) model.call.end = end;
  if (end.status === 'completed') {
    model.rounds = end.round;
    model.errors = 0;
  } else if (end.status === 'error') model.errors++;
}

/**
 * Folds the change to another model. It has all of its own attempts, and repeats the call that the
 * former one refused for good.
 */
export function changeModel(model: ModelState, index: number): void {
  model.index = index;
  model.errors = 0;
  const end = model.call?.end;
  if (end?.status === 'error' && end.retryAfterMs === undefined) repeatCall(model);
}

/** Repeats the last call when it failed, because the next prompt differs from the refused one. */
export function repeatFailedCall(model: ModelState): void {
  if (model.call?.end?.status === 'error') repeatCall(model);
}

/** Folds the reopening of the invocation: a call that did not complete is repeated. */
export function reopenModel(model: ModelState): void {
  model.errors = 0;
  const end = model.call?.end;
  if (end !== undefined && end.status !== 'completed') repeatCall(model);
}

/** Lets the end of the last call count as an interruption, after which a call is repeated. */
function repeatCall({ call }: ModelState): void {
  if (call?.end !== undefined) call.end = { ...call.end, status: 'interrupted' };
}
