import type { EventOf } from '../../ledger/event.ts';
import { type CallEvidence, isVeto, mostEvidence } from '../../supervision/evidence.ts';
import type { CallState } from '../call-state.ts';

/** Counts of the calls that the loop detector refused. */
export interface Vetoes {
  /** Last round with a refused call. */
  round: number;
  /** Number of consecutive rounds with refused calls, up to `round`. */
  streak: number;
  total: number;
}

/** Evidence of the supervision: whether the agent's calls lead anywhere. */
export interface SupervisionState {
  /** Last settled calls of this invocation, oldest first. */
  readonly evidence: CallEvidence[];
  vetoes: Vetoes;
}

export function startSupervision(): SupervisionState {
  return { evidence: [], vetoes: { round: 0, streak: 0, total: 0 } };
}

/** Folds a settled call, in the order in which the model made the calls of its round. */
export function addEvidence(
  { evidence, vetoes }: SupervisionState,
  { call }: CallState,
  { result, name }: EventOf<'tool_result'>,
  turn: number,
): void {
  if (isVeto(result)) {
    addVeto(vetoes, call.round);
    return;
  }
  const { round, index } = call;
  let place = evidence.length;
  for (; place > 0; place--) {
    const before = evidence[place - 1] as CallEvidence;
    if (before.round !== round || (before.index ?? 0) < index) break;
  }
  evidence.splice(place, 0, { name, args: call.args, result, turn, round, index });
  if (evidence.length > mostEvidence) evidence.shift();
}

function addVeto(vetoes: Vetoes, round: number): void {
  vetoes.total++;
  if (round !== vetoes.round) vetoes.streak = vetoes.round === round - 1 ? vetoes.streak + 1 : 1;
  vetoes.round = round;
}

/** Folds a message, after which refused calls are no longer consecutive. */
export function endStreak(supervision: SupervisionState): void {
  supervision.vetoes = { ...supervision.vetoes, streak: 0 };
}

/** Folds the reopening of the invocation, after which the agent may try again. */
export function forgetVetoes(supervision: SupervisionState): void {
  supervision.vetoes = { round: 0, streak: 0, total: 0 };
}
