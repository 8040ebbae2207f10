import { isFromOutside } from '../../ledger/actor.ts';
import type { EventOf } from '../../ledger/event.ts';
import type { InvocationRecord, InvocationTree } from '../../ledger/folds/invocation-fold.ts';
import type { EffectAttempt, EffectRecord } from './ports.ts';

type Result = EventOf<'tool_result'>;

/** Place of the effects of one body in the ledger. */
export interface EffectPlace {
  readonly invocations: InvocationTree;
  /** Invocation that the events of the body belong to. */
  readonly record: InvocationRecord;
  /** Path below which the effects lie: that of a step, or the id of a tool call. */
  readonly childRoot: string;
  /**
   * Last event before an execution of the body that is under way: the effects are as that execution
   * gets them. `undefined`: as the last recorded execution got them.
   */
  readonly seqBefore?: number | undefined;
}

/** Recorded effect, with the events that may change an outcome that is unknown. */
export interface FoldedEffect extends EffectRecord {
  /** Late result that tells the outcome. */
  told: Result | undefined;
  /** True when a reopening says that the unknown outcome no longer counts. */
  isReopened: boolean;
  /** Event from which on the body has to keep to the unknown outcome once it begins more. */
  since: number;
}

/**
 * Returns the recorded effects of a body, by their ids. An outcome that is unknown may be replaced
 * when the body runs again: by what somebody has told, or by the present `recovery` after a
 * reopening. A body that has begun more since it got the outcome keeps it, because its children and
 * effects follow from it.
 */
export function recordedEffects(place: EffectPlace): Map<string, FoldedEffect> {
  return new EffectFold(place).fold();
}

/** The last result of an effect when its outcome is unknown; `undefined` for other effects. */
export function unknownOutcome({ settled, judgesAgain, attempts }: EffectRecord) {
  const result = judgesAgain ? attempts.at(-1)?.result : settled;
  return result?.effect === 'unknown' ? result : undefined;
}

/**
 * True when a body has dealt with the unknown outcome of an effect: it has begun a child or another
 * effect since, and has not failed because of it.
 */
export function hasGoneOn(place: EffectPlace, id: string): boolean {
  const { error } = place.record;
  if (error?.code === 'effect_unknown' && error.data?.['callId'] === id) return false;
  const fold = new EffectFold(place);
  fold.fold();
  return fold.hasGoneOn(id, Number.POSITIVE_INFINITY);
}

class EffectFold {
  readonly #place: EffectPlace;
  readonly #found = new Map<string, FoldedEffect>();

  constructor(place: EffectPlace) {
    this.#place = place;
  }

  fold(): Map<string, FoldedEffect> {
    const { record, seqBefore } = this.#place;
    const { events } = record;
    let runsAgain = seqBefore !== undefined;
    for (let i = firstOf(this.#place); i < events.length; i++) {
      const event = events[i];
      if (event === undefined) continue;
      if (runsAgain && event.seq > (seqBefore ?? 0)) {
        runsAgain = false;
        this.#runAgain(seqBefore ?? 0);
      }
      if (event.type === 'tool_attempt' && this.#isBelow(event.callId)) this.#attempt(event);
      else if (event.type === 'tool_result' && this.#isBelow(event.callId)) this.#result(event);
      else if (event.type === 'invocation_reopen') this.#reopen(event);
      // The mark of the execution under way comes with its first event.
      else if (event.type === 'invocation_resume' && event.seq <= (seqBefore ?? event.seq))
        this.#runAgain(event.seq);
    }
    if (runsAgain) this.#runAgain(seqBefore ?? 0);
    return this.#found;
  }

  #isBelow(callId: string): boolean {
    return callId.startsWith(`${this.#place.childRoot}/`);
  }

  #attempt({ callId, attempt, key, deadline, seq, at }: EventOf<'tool_attempt'>): void {
    const effect = this.#found.get(callId) ?? newEffect();
    this.#found.set(callId, effect);
    effect.attempts.push({
      attempt,
      key,
      deadline: deadline ?? at,
      seq,
      at,
      result: undefined,
    });
    effect.isReopened = false;
    effect.judgesAgain = false;
    effect.told = undefined;
  }

  #result(event: Result): void {
    const effect = this.#found.get(event.callId) ?? newEffect();
    this.#found.set(event.callId, effect);
    if (event.late === true) {
      if (event.effect !== 'unknown') effect.told ??= event;
      return;
    }
    const made = effect.attempts.find(({ attempt }) => attempt === event.attempt);
    if (made !== undefined) made.result = event;
    if (event.settled) effect.settled ??= event;
    effect.isReopened = false;
    effect.judgesAgain = false;
    effect.since = event.seq;
  }

  #reopen({ seq, effects = [] }: EventOf<'invocation_reopen'>): void {
    for (const [id, effect] of this.#found) {
      effect.isReopened = effects.includes(id);
      if (effect.isReopened) effect.since = seq;
    }
  }

  /** Gives an execution that begins after the event `seq` the outcomes that count then. */
  #runAgain(seq: number): void {
    for (const [id, effect] of this.#found) {
      const unknown = unknownOutcome(effect);
      if (unknown === undefined) continue;
      const { told, isReopened } = effect;
      effect.settled = unknown;
      effect.judgesAgain = false;
      if (this.hasGoneOn(id, seq)) continue;
      if (told !== undefined && (isReopened || isFromOutside(told.by))) useTold(effect, told);
      else if (isReopened) {
        effect.settled = undefined;
        effect.judgesAgain = true;
      }
    }
  }

  /** True when the body has begun more up to the event `seq` since it got an outcome. */
  hasGoneOn(id: string, seq: number): boolean {
    const { since = 0 } = this.#found.get(id) ?? {};
    const isBetween = (begun: number): boolean => begun > since && begun <= seq;
    for (const [other, { attempts }] of this.#found)
      if (other !== id && isBetween(attempts[0]?.seq ?? 0)) return true;
    const { invocations, record } = this.#place;
    return record.children.some((path) => {
      const child = invocations.byPath.get(path);
      // The parts of a lifecycle have the mode of a child: the body has not begun them.
      return (
        child !== undefined &&
        child.mode !== 'child' &&
        this.#isBelow(path) &&
        isBetween(child.start.seq)
      );
    });
  }
}

function newEffect(): FoldedEffect {
  return {
    attempts: [],
    settled: undefined,
    judgesAgain: false,
    told: undefined,
    isReopened: false,
    since: 0,
  };
}

/**
 * Puts what was told in the place of an unknown outcome. When nothing was done, another attempt may
 * follow.
 */
function useTold(effect: FoldedEffect, told: Result): void {
  const last = effect.attempts.at(-1) as EffectAttempt;
  last.result = told;
  effect.settled = told.retryAfterMs === undefined ? told : undefined;
}

/**
 * Returns the index of the first event of a body: nothing of its effects stands before it. The
 * events of a step begin with it.
 */
function firstOf({ record: { path, events }, childRoot }: EffectPlace): number {
  if (childRoot === path) return 0;
  return Math.max(
    0,
    events.findLastIndex((event) => event.type === 'tool_call' && event.callId === childRoot),
  );
}
