import { defined } from '../../../base/defined.ts';
import { AdjutantError } from '../../../base/error.ts';
import {
  type FoldedEffect,
  hasGoneOn,
  recordedEffects,
  unknownOutcome,
} from '../../../effects/body-effect/recorded-effects.ts';
import { effectDidNotHappen, effectFailed } from '../../../effects/body-effect/result-texts.ts';
import { hadNoEffect } from '../../../effects/tool-call/result-texts.ts';
import { isEffectId } from '../../../ledger/effect-id.ts';
import type { Event, EventDraft, EventOf } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { parentOf } from '../../../ledger/path.ts';
import type { ToolEffect, ToolResult } from '../../../ledger/tool-result.ts';
import type { Resolution } from '../../../session/answer.ts';
import { toToolResult } from '../../../tools/result.ts';
import { inFlightOn } from '../../frame/in-flight.ts';
import { whyNotReopenable } from '../reopen.ts';

/** Error of a call or an effect whose outcome cannot be told, because it would change nothing. */
export class NotResolvableError extends AdjutantError {
  constructor(data: { callId: string; reason: string }) {
    super(
      'not_resolvable',
      `The outcome of "${data.callId}" cannot be told: ${data.reason}.`,
      data,
    );
  }
}

type Found = EventOf<'tool_result'>;

/**
 * Returns the event that records the outcome of a call or an effect of unknown outcome, or the
 * reason why there is none.
 */
export function resolutionDraft(
  ledger: Ledger,
  callId: string,
  found: Resolution,
): EventDraft | string {
  if (isEffectId(callId)) return new EffectResolution(ledger, callId, found).draft();
  const settled = ledger.events.findLast(
    (event): event is Found =>
      event.type === 'tool_result' && event.callId === callId && event.settled,
  );
  const refused = whyNoCall(ledger, callId, settled);
  if (settled === undefined || refused !== undefined) return refused ?? notThere;
  const result = outcomeOf(found, hadNoEffect());
  return resultDraft(settled, found, { result, late: true, settled: false });
}

const notThere = 'the session has no call or effect with this id';
const alreadyTold = 'somebody has told it already';

function whyNoCall(ledger: Ledger, callId: string, settled: Found | undefined): string | undefined {
  if (settled === undefined)
    return ledger.events.some((event) => event.type === 'tool_call' && event.callId === callId)
      ? 'the call has no outcome yet, and its run goes on with it'
      : notThere;
  if (settled.effect !== 'unknown') return `the call has an outcome: ${settled.result.status}`;
  const isKnown = ledger.events.some((event) => isLateOutcome(event, callId));
  const attempt = ledger.events.findLast(
    (event) => event.type === 'tool_attempt' && event.callId === callId,
  ) as EventOf<'tool_attempt'> | undefined;
  // A later call with its key may have told the outcome, too.
  const isOpen = attempt?.fingerprint === undefined || ledger.effects.unresolved.has(callId);
  return isKnown || !isOpen ? 'it is known by now' : undefined;
}

function isLateOutcome(event: Event, callId: string): boolean {
  return (
    event.type === 'tool_result' &&
    event.callId === callId &&
    event.late === true &&
    event.effect !== 'unknown'
  );
}

/** Outcome of one effect of a body, told by somebody. */
class EffectResolution {
  readonly #ledger: Ledger;
  readonly #callId: string;
  readonly #found: Resolution;

  constructor(ledger: Ledger, callId: string, found: Resolution) {
    this.#ledger = ledger;
    this.#callId = callId;
    this.#found = found;
  }

  draft(): EventDraft | string {
    const { byPath } = this.#ledger.invocations;
    const begun = this.#ledger.events.findLast(
      (event) => event.type === 'tool_attempt' && event.callId === this.#callId,
    );
    const record = byPath.get(begun?.invocationId ?? '');
    if (record === undefined) return notThere;
    const effect = this.#effects(record).get(this.#callId);
    const last = effect?.attempts.at(-1);
    if (effect === undefined || last === undefined) return notThere;
    const refused = this.#whyRefused(record, effect);
    if (refused !== undefined) return refused;
    const name = this.#callId.slice(this.#childRoot.length + 1);
    const { attempt } = last;
    const of = { invocationId: record.path, callId: this.#callId, name, attempt };
    const isRepeated = !this.#found.happened && this.#found.failed === undefined;
    const isLate = last.result !== undefined;
    return resultDraft(of, this.#found, {
      result: outcomeOf(this.#found, effectDidNotHappen()),
      settled: !isLate && !isRepeated,
      ...(isLate ? { late: true as const } : {}),
      // The body makes another attempt, as after a probe that finds nothing.
      ...(isRepeated ? { retryAfterMs: 0 } : {}),
    });
  }

  get #childRoot(): string {
    return parentOf(this.#callId);
  }

  #effects(record: InvocationRecord): Map<string, FoldedEffect> {
    const { invocations } = this.#ledger;
    return recordedEffects({ invocations, record, childRoot: this.#childRoot });
  }

  #whyRefused(record: InvocationRecord, effect: FoldedEffect): string | undefined {
    const { path } = record;
    if (inFlightOn(this.#ledger).underWay.has(path))
      return (
        `"${path}" is going on here, and judges the effect itself: tell it when the run ` +
        'waits or has ended'
      );
    return (
      this.#whyKnown(effect) ??
      this.#whyCallIsOver(record) ??
      this.#whyEnded(record) ??
      this.#whyGoneOn(record, effect)
    );
  }

  #whyKnown(effect: FoldedEffect): string | undefined {
    const { attempts, settled, told } = effect;
    if (attempts.at(-1)?.result === undefined) return undefined;
    if (unknownOutcome(effect) === undefined) {
      return settled === undefined
        ? 'it is known that nothing was done, and the effect is tried again when the run goes on'
        : `the effect has an outcome: ${settled.result.status}`;
    }
    return told === undefined ? undefined : `${alreadyTold}: reopen the run, and it counts`;
  }

  /** A tool whose call has ended does not run again. */
  #whyCallIsOver({ path, events }: InvocationRecord): string | undefined {
    const callId = this.#childRoot;
    if (callId === path) return undefined;
    const isOver = events.some(
      (event) => event.type === 'tool_result' && event.callId === callId && event.settled,
    );
    return isOver ? `the call "${callId}" has ended: tell the outcome of that call` : undefined;
  }

  #whyEnded(record: InvocationRecord): string | undefined {
    const { path, end, status } = record;
    if (end === undefined) return undefined;
    return status === 'error' || status === 'cancelled'
      ? whyNotReopenable(this.#ledger, record)
      : `"${path}" has ended as ${status}, and does not run again`;
  }

  #whyGoneOn(record: InvocationRecord, effect: FoldedEffect): string | undefined {
    const { invocations } = this.#ledger;
    if (effect.attempts.at(-1)?.result === undefined) return undefined;
    return hasGoneOn({ invocations, record, childRoot: this.#childRoot }, this.#callId)
      ? `"${record.path}" got it as unknown and has gone on since: fork the session before ` +
          'that event'
      : undefined;
  }
}

/** Returns the result that stands for what somebody has found out. */
function outcomeOf(
  { happened, result = null, failed }: Resolution,
  nothing: ToolResult,
): ToolResult {
  if (happened) return toToolResult(result);
  return failed === undefined ? nothing : effectFailed(failed);
}

function resultDraft(
  {
    invocationId,
    callId,
    name,
    attempt,
  }: Pick<Found, 'callId' | 'name' | 'attempt'> & {
    readonly invocationId?: string;
  },
  { by, happened }: Resolution,
  more: Pick<Found, 'result' | 'settled'> & Partial<Pick<Found, 'late' | 'retryAfterMs'>>,
): EventDraft {
  const effect: ToolEffect | undefined = happened ? undefined : 'none';
  return {
    type: 'tool_result',
    by,
    ...defined({ invocationId }),
    callId,
    name,
    attempt,
    ...defined({ effect }),
    durationMs: 0,
    ...more,
  };
}
