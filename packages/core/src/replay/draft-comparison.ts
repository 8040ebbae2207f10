import { defined } from '../base/defined.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { promptOf } from '../context/recipe.ts';
import { callFingerprint } from '../effects/tool-call/call-fingerprint.ts';
import type { Event, EventDraft, EventOf } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RecordedPlace } from '../ledger/recording.ts';
import { comparableOf, kindOf } from './comparable.ts';
import type { Divergence } from './divergence.ts';
import { capital, nameOf } from './event-name.ts';
import { isSameJson, jsonDifferences } from './json-difference.ts';
import { promptDivergence } from './prompt-difference.ts';
import { withoutProviderIds } from './provider-ids.ts';

/** The record that drafts are compared with, and the way in which values are compared. */
export interface ComparisonOptions {
  readonly events: readonly Event[];
  readonly model: 'recorded' | 'live';
  /** Puts the large values of the record in the place of their references. */
  readonly resolve: (value: unknown) => unknown;
  /** Applied to both sides before they are compared. */
  readonly normalize: (value: JsonValue) => JsonValue;
}

/** A divergence without its place in the record. */
export type UnplacedDivergence = Omit<Divergence, 'seq' | 'path'>;

type Draft = EventDraft | (EventDraft & RecordedPlace);
type ModelStartDraft = Extract<EventDraft, { type: 'model_start' }>;
interface Prompts {
  readonly before: JsonObject;
  readonly now: JsonObject;
}

/** Compares drafts of events, which code is about to append, with recorded events. */
export class DraftComparison {
  readonly #options: ComparisonOptions;
  /** Arguments that tools are about to be called with, by the id of the call. */
  readonly #args = new Map<string, unknown>();
  #ledger: Ledger | undefined;

  constructor(options: ComparisonOptions) {
    this.#options = options;
  }

  /** Sets the ledger that is written against the record. */
  attach(ledger: Ledger): void {
    this.#ledger = ledger;
  }

  /** Keeps the arguments of a call: the ledger often has no more than their fingerprint. */
  keepArguments(callId: string, args: unknown): void {
    this.#args.set(callId, args);
  }

  /**
   * Checks that a draft is the same as a recorded event.
   * @param isInStep true when every event so far has the seq that it has in the record
   */
  isSame(recorded: Event, given: EventDraft, isInStep: boolean): boolean {
    const draft = withInputOf(recorded, this.#withFingerprintOf(recorded, given));
    const before = comparableOf(recorded);
    const now = comparableOf(draft);
    if (!isSameJson(before, now) && !isSameJson(this.normalized(recorded), this.normalized(draft)))
      return false;
    return (
      draft.type !== 'model_start' ||
      this.#hasSamePrompt(recorded as EventOf<'model_start'>, draft, isInStep)
    );
  }

  /** The compared members of an event, with large values resolved and after `normalize`. */
  normalized(event: Draft): JsonValue {
    const { resolve, normalize } = this.#options;
    const whole = (resolve(this.#ledger?.resolve(comparableOf(event)) ?? comparableOf(event)) ??
      null) as JsonValue;
    return normalize(whole);
  }

  /** Describes how a draft differs from the recorded event whose turn it was. */
  divergence(recorded: Event, draft: EventDraft): UnplacedDivergence {
    if (recorded.type === 'model_start' && draft.type === 'model_start')
      return promptDivergence({ ...this.#prompts(recorded, draft), recorded, draft });
    if (recorded.type === draft.type) return this.#changed(recorded, draft);
    const before = this.normalized(recorded);
    const now = this.normalized(draft);
    return {
      kind: 'control_flow',
      subject: `${capital(nameOf(recorded))} is recorded, and ${nameOf(draft)} came instead`,
      recorded: before,
      replayed: now,
      differences: jsonDifferences(before, now),
    };
  }

  /**
   * Removes the fingerprint of a draft where the record has none and the arguments are those of the
   * model: a recorded call without a fingerprint was made with these.
   */
  #withFingerprintOf(recorded: Event, draft: EventDraft): EventDraft {
    if (
      recorded.type !== 'tool_attempt' ||
      draft.type !== 'tool_attempt' ||
      recorded.fingerprint !== undefined
    )
      return draft;
    const { fingerprint, ...unnamed } = draft;
    const call = this.#callOf(draft.callId);
    if (fingerprint === undefined || call === undefined) return draft;
    const ofModel = callFingerprint(draft.tool ?? call.name, this.#options.resolve(call.args));
    return fingerprint === ofModel ? unnamed : draft;
  }

  #callOf(callId: string): EventOf<'tool_call'> | undefined {
    return this.#options.events.find(
      (event): event is EventOf<'tool_call'> =>
        event.type === 'tool_call' && event.callId === callId,
    );
  }

  #hasSamePrompt(
    recorded: EventOf<'model_start'>,
    draft: ModelStartDraft,
    isInStep: boolean,
  ): boolean {
    // As long as both ledgers are the same, the same recipe makes the same prompt.
    if (isInStep && isSameJson(recorded.recipe, draft.recipe)) return true;
    const { before, now } = this.#prompts(recorded, draft);
    return isSameJson(before, now);
  }

  #prompts(recorded: EventOf<'model_start'>, draft: ModelStartDraft): Prompts {
    const { events, resolve, normalize } = this.#options;
    const ledger = this.#ledger as Ledger;
    const made = [
      ...ledger.events,
      { v: 1, seq: ledger.lastSeq + 1, id: '', at: recorded.at, ...draft } as Event,
    ];
    const prompt = (
      of: readonly Event[],
      seq: number,
      whole: (value: unknown) => unknown,
    ): JsonObject =>
      normalize(
        this.#comparablePrompt(promptOf(of, seq, whole) as unknown as JsonValue),
      ) as JsonObject;
    return {
      before: prompt(events, recorded.seq, resolve),
      now: prompt(made, made.length, (value) => resolve(ledger.resolve(value))),
    };
  }

  #comparablePrompt(prompt: JsonValue): JsonValue {
    return this.#options.model === 'live' ? withoutProviderIds(prompt) : prompt;
  }

  #changed(recorded: Event, draft: EventDraft): UnplacedDivergence {
    const before = this.normalized(recorded);
    const now = this.normalized(draft);
    const kind = kindOf(recorded.type);
    const differences = jsonDifferences(before, now);
    if (
      recorded.type === 'tool_attempt' &&
      draft.type === 'tool_attempt' &&
      recorded.tool === draft.tool &&
      recorded.attempt === draft.attempt
    ) {
      const subject =
        `${this.#toolOf(draft.callId)} is called with other arguments; of the recorded ones ` +
        `the ledger has the fingerprint ${recorded.fingerprint}`;
      const replayed = this.#normalizedArguments(draft.callId);
      return { kind, subject, recorded: before, ...defined({ replayed }), differences };
    }
    const where = differences.map(({ path }) => path).slice(0, 3);
    const subject =
      `${capital(nameOf(recorded))} differs in ` +
      `${where.join(', ')}${differences.length > 3 ? ' and more' : ''}`;
    return { kind, subject, recorded: before, replayed: now, differences };
  }

  #normalizedArguments(callId: string): JsonValue | undefined {
    const args = this.#args.get(callId);
    if (args === undefined) return undefined;
    return this.#options.normalize(JSON.parse(JSON.stringify(args)) as JsonValue);
  }

  #toolOf(callId: string): string {
    const call = this.#callOf(callId);
    return call === undefined ? callId : `${call.name} (${callId})`;
  }
}

/**
 * Removes the input that flows into a part where the record has none: ledgers of earlier versions
 * were written without it, and their parts saw none.
 */
function withInputOf(recorded: Event, draft: EventDraft): EventDraft {
  if (recorded.type !== 'invocation_start' || draft.type !== 'invocation_start') return draft;
  if (recorded.input !== undefined || draft.inputFrom === undefined) return draft;
  const { input: _input, inputHash: _hash, inputFrom: _from, ...without } = draft;
  return without;
}

/**
 * True when the same caller starts the same child at another path. Without a key of its own, the
 * path of a child follows from its input.
 */
export function isSameChild(
  recorded: Event,
  draft: EventDraft,
): draft is Extract<EventDraft, { type: 'invocation_start' }> {
  if (recorded.type !== 'invocation_start' || draft.type !== 'invocation_start') return false;
  const [before, now] = [recorded.invocationId, draft.invocationId].map((path) => path.split('#'));
  return before?.length === 2 && now?.length === 2 && before[0] === now[0];
}
