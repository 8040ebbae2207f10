import { priorEvidence } from '../../../context/prior-evidence.ts';
import { unknownToolType } from '../../../ledger/tool-name.ts';
import type { CallState } from '../../../loop/call-state.ts';
import type { Position } from '../../../loop/position.ts';
import {
  argsKey,
  type CallEvidence,
  evidenceKey,
  isToolless,
  mostEvidence,
} from '../../../supervision/evidence.ts';
import type { BodyFrame } from '../../frame/run-context.ts';

/**
 * Settled calls of an agent that its invocation sees. Nearly all calls are new: a set of keys
 * recognises them without a comparison with each earlier call.
 */
export class SeenCalls {
  readonly #frame: BodyFrame;
  readonly #position: Position;
  readonly #limit: number;
  #prior: readonly CallEvidence[] | undefined;
  /**
   * Keys of the calls that were noted, including some forgotten ones. A call whose key is missing
   * was never made.
   */
  #keys = new Set<string>();
  #noted = new WeakSet<CallEvidence>();
  readonly #first = new WeakSet<CallEvidence>();
  #last: { readonly call: CallState; readonly key: string } | undefined;

  /** @param limit most calls before the invocation that are looked up */
  constructor(frame: BodyFrame, position: Position, limit: number) {
    this.#frame = frame;
    this.#position = position;
    this.#limit = limit;
  }

  /** Returns the settled calls, oldest first. Calls before the invocation are looked up once. */
  all(): readonly CallEvidence[] {
    const prior = this.#before();
    return prior.length === 0
      ? this.#position.supervision.evidence
      : [...prior, ...this.#position.supervision.evidence];
  }

  #before(): readonly CallEvidence[] {
    if (this.#prior === undefined) {
      const { run, record } = this.#frame;
      this.#prior = priorEvidence(
        run.ledger,
        record.path,
        record.start.name,
        this.#limit,
        (event) => run.ledger.whole(event),
      );
      for (const one of this.#prior) this.#note(one);
    }
    return this.#prior;
  }

  /** True when the same call may have been settled before; `false` is certain. */
  has(call: CallState, isKnown: boolean): boolean {
    const prior = this.#before();
    const { evidence } = this.#position.supervision;
    if (evidence.length === 0 && prior.length === 0) return false;
    if (this.#keys.size > 4 * mostEvidence) {
      this.#keys = new Set();
      this.#noted = new WeakSet();
      for (const one of prior) this.#note(one);
    }
    const round = evidence.at(-1)?.round;
    let from = evidence.length;
    for (; from > 0; from--) {
      const one = evidence[from - 1] as CallEvidence;
      // A call of the same round may have ended later and stand before a call that is already
      // noted.
      if (this.#noted.has(one) && one.round !== round) break;
    }
    for (let i = from; i < evidence.length; i++) this.#note(evidence[i] as CallEvidence);
    if (isKnown) return this.#keys.has(this.#keyOf(call));
    return this.#keys.has(call.call.name) || this.#keys.has(unknownToolType);
  }

  /**
   * True for a settled call of which `has` noted that no call with its arguments came before;
   * `false` is not certain.
   */
  readonly isFirst = (one: CallEvidence): boolean => this.#first.has(one);

  #note(one: CallEvidence): void {
    if (this.#noted.has(one)) return;
    this.#noted.add(one);
    const known = this.#keys.size;
    this.#addKeys(one);
    if (this.#keys.size > known) this.#first.add(one);
  }

  #addKeys(one: CallEvidence): void {
    const last = this.#last;
    const { errorType } = one.result;
    // Calls of an unknown tool are the same whatever their arguments, and count together.
    if (errorType !== undefined && isToolless(errorType)) this.#keys.add(one.name).add(errorType);
    else if (
      last !== undefined &&
      last.call.call.args === one.args &&
      last.call.call.name === one.name
    )
      this.#keys.add(last.key);
    else this.#keys.add(`${one.name} ${evidenceKey(one)}`);
  }

  #keyOf(call: CallState): string {
    if (this.#last?.call !== call)
      this.#last = { call, key: `${call.call.name} ${argsKey(call.call.args)}` };
    return this.#last.key;
  }
}
