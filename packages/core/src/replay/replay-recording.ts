import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventDraft, EventOf } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parentOf } from '../ledger/path.ts';
import type {
  LedgerRecording,
  RecordedAdmission,
  RecordedOutcome,
  RecordedPlace,
  ReplayedAttempt,
  ReplayedCall,
  ReplayedCheck,
} from '../ledger/recording.ts';
import { type AwaitedOutcome, AwaitedOutcomes } from './awaited-outcomes.ts';
import { awaitedTextOf } from './awaited-text.ts';
import { comparableOf } from './comparable.ts';
import type { Divergence } from './divergence.ts';
import {
  type ComparisonOptions,
  DraftComparison,
  isSameChild,
  type UnplacedDivergence,
} from './draft-comparison.ts';
import { capital, nameOf } from './event-name.ts';
import { jsonDifferences } from './json-difference.ts';
import { attemptKey, isRaw, modelKey, type Outcome, outcomesIn } from './outcomes.ts';
import { ServedCalls } from './served-calls.ts';
import { comesFromOutside, isMark, streamOf } from './streams.ts';

/** The record, and the part of it that is replayed now. */
export interface RecordingOptions extends ComparisonOptions {
  /** Place of the first event that is replayed. */
  readonly from: number;
  /** Place behind the last event that is replayed. */
  readonly to: number;
  /** True when the process went on after the record: its later actions are no divergence. */
  readonly isCut: boolean;
  readonly tools: 'recorded' | 'live';
  /** Seqs of events that come from outside and are made again all the same. */
  readonly made: ReadonlySet<number>;
}

/**
 * Serves the recorded outcomes of one part of a record, each at its turn. Compares the events that
 * code appends with the recorded ones.
 */
export class ReplayRecording implements LedgerRecording {
  /** A counter that grows with everything that happens. */
  progress = 0;
  readonly divergences: Divergence[] = [];
  /** The first draft that the record does not have. */
  unrecorded: EventDraft | undefined;
  readonly #options: RecordingOptions;
  readonly #comparison: DraftComparison;
  readonly #streams = new Map<string, EventOf<Event['type']>[]>();
  readonly #matched = new Set<number>();
  readonly #outcomes: ReadonlyMap<string, Outcome[]>;
  readonly #awaited = new AwaitedOutcomes();
  readonly #asked = new Set<number>();
  readonly #served: ServedCalls;
  /** Paths of sequences, whose parts come one after the other. */
  readonly #sequences: ReadonlySet<string>;
  /** Paths of invocations of which a divergence is noted. */
  readonly #differing = new Set<string>();
  #next: number;
  #ledger: Ledger | undefined;
  /** True as long as every event has the seq that it has in the record. */
  #isInStep = true;
  #isClosed = false;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#comparison = new DraftComparison(options);
    const { events, from, to } = options;
    this.#next = from;
    const part = events.slice(from, to);
    this.#served = new ServedCalls(events, to);
    this.#sequences = new Set(
      events.flatMap((event) =>
        event.type === 'invocation_start' && event.kind === 'sequence' ? [event.invocationId] : [],
      ),
    );
    this.#outcomes = outcomesIn(part, (end) => this.#isServed(end));
    for (const event of part) {
      if (this.isFromOutside(event)) continue;
      const stream = streamOf(event);
      const list = this.#streams.get(stream) ?? [];
      this.#streams.set(stream, list);
      list.push(event);
    }
  }

  /** Sets the ledger that is written against this record. */
  attach(ledger: Ledger): void {
    this.#ledger = ledger;
    this.#comparison.attach(ledger);
    this.#isInStep = ledger.lastSeq === this.#options.from;
  }

  /**
   * The first event that has not come yet; `undefined`: all have. Nothing waits for the marks of
   * processes.
   */
  get frontier(): Event | undefined {
    const { events, to } = this.#options;
    while (this.#next < to) {
      const event = events[this.#next] as Event;
      if (!this.#matched.has(event.seq) && !isMark(event)) return event;
      this.#next++;
    }
    return undefined;
  }

  /** True when an event came from outside, so that it is put where it stood. */
  isFromOutside(event: Event): boolean {
    return comesFromOutside(event) && !this.#options.made.has(event.seq);
  }

  /** True when an event is below a served call: no code makes it, so it is put where it stood. */
  isBelowServed(event: Event): boolean {
    return this.#served.isAbove(event);
  }

  /** Checks that a call waits for the outcome that begins with this event. */
  isReleasable({ seq }: Event): boolean {
    return this.#awaited.has(seq);
  }

  /** Tells if this event was asked for before, so that it is on its way; notes that it is now. */
  isAsked({ seq }: Event): boolean {
    if (this.#asked.has(seq)) return true;
    this.#asked.add(seq);
    return false;
  }

  /**
   * Gives the outcome that begins with this event to the call that waits for it. Returns true when
   * a call does.
   */
  release(first: Event): boolean {
    const awaited = this.#awaited.take(first.seq);
    if (awaited === undefined) return false;
    if (awaited.takesRaw === true && isRaw(awaited.outcome)) {
      this.progress++;
      awaited.release({ raw: awaited.outcome.events });
      return true;
    }
    const { events, end } = awaited.outcome;
    awaited.landing?.(events);
    this.inject(events);
    awaited.release({
      landed: this.#ledger?.events[this.#ledger.lastSeq - events.length + events.indexOf(end)],
    });
    return true;
  }

  /** Puts recorded events into the ledger as they are. */
  inject(events: readonly Event[]): void {
    for (const event of events) {
      const stream = this.#streams.get(streamOf(event));
      const place = stream?.indexOf(event) ?? -1;
      if (place >= 0) stream?.splice(place, 1);
      this.#match(event);
    }
    this.#ledger?.adopt(events);
    this.#isInStep &&= (events.at(-1)?.seq ?? 0) === this.#ledger?.lastSeq;
  }

  beforeRound(runId: string): void {
    for (;;) {
      const event = this.frontier;
      if (!isDecision(event, 'scheduler') || event.invocationId !== runId) return;
      this.inject([event]);
    }
  }

  /** Ends the serving: calls that wait go on without an outcome. */
  close(): void {
    this.#isClosed = true;
    this.#awaited.close();
  }

  /** Notes that an event did not come as it is recorded. */
  diverge(divergence: Divergence): void {
    this.progress++;
    this.divergences.push(divergence);
  }

  modelEnded({
    path,
    round,
    attempt,
    landing,
  }: ReplayedCall): Promise<RecordedOutcome> | undefined {
    if (this.#options.model === 'live') return undefined;
    const outcome = this.#outcomes.get(modelKey(path, round, attempt))?.shift();
    const end = outcome?.end as EventOf<'model_end'> | undefined;
    if (end?.substitutedBy?.startsWith('beforeModel') === true) {
      const subject =
        `The model is asked in round ${round} of ${path}, where ${end.substitutedBy} ` +
        'answered in its place';
      this.#note(end, {
        kind: 'control_flow',
        subject,
        recorded: comparableOf(end),
        differences: [],
      });
      return this.#waitFor({ outcome: undefined });
    }
    return this.#waitFor({ outcome, landing, takesRaw: true });
  }

  awaitedText(path: string, place: number): string | undefined {
    const next = this.#streams.get(`path ${path}`)?.find(({ type }) => type === 'model_start');
    const { events, resolve } = this.#options;
    return awaitedTextOf(next, place, { events, resolve });
  }

  prepared(callId: string, args: unknown): void {
    this.#comparison.keepArguments(callId, args);
  }

  hasBegun(callId: string): boolean {
    return this.#served.hasBegun(callId);
  }

  attemptEnded({
    callId,
    attempt,
    mayRun,
    takesRaw,
    landing,
  }: ReplayedAttempt): Promise<RecordedOutcome> | undefined {
    if (this.#options.tools === 'live') return undefined;
    if (mayRun && this.#served.hasChildren(callId)) return undefined;
    this.#served.add(callId);
    const outcome = this.#outcomes.get(attemptKey(callId, attempt))?.shift();
    return this.#waitFor({ outcome, landing, takesRaw });
  }

  circuit({ path, callId, tool }: ReplayedCheck): RecordedAdmission | undefined {
    if (this.#options.tools === 'live') return undefined;
    const next = this.#streams.get(`decision ${path} circuit_breaker ${callId}`)?.[0];
    if (!isDecision(next, 'circuit_breaker') || next.data?.tool !== tool) return undefined;
    const { failures } = next.data;
    if (isDecision(next, 'circuit_breaker', 'refuse'))
      return { admitted: false, failures, retryInMs: next.data.retryInMs };
    return next.decision === 'half_open'
      ? { admitted: true, change: { change: 'half_open', failures } }
      : undefined;
  }

  observed(path: string | undefined): void {
    const before = path === undefined ? undefined : this.#streams.get(`path ${path}`)?.[0]?.seq;
    const { events, to } = this.#options;
    for (let at = this.#next; at < to; at++) {
      const event = events[at] as Event;
      if (this.#matched.has(event.seq) || isMark(event)) continue;
      const isSeen = event.type === 'state_change' && event.source === 'observation';
      if (isSeen) this.inject([event]);
      else if (before === undefined || event.seq >= before) break;
    }
  }

  take(draft: EventDraft): (EventDraft & RecordedPlace) | undefined {
    this.progress++;
    if (this.#isClosed) return undefined;
    const stream = streamOf(draft);
    const recorded = this.#streams.get(stream)?.[0];
    if (recorded === undefined) return this.#extra(draft);
    if (recorded.type !== draft.type && isMark(recorded)) {
      this.#streams.get(stream)?.shift();
      this.#match(recorded);
      return this.take(draft);
    }
    if (isMark(draft) && recorded.type !== draft.type) return undefined;
    if (!this.#comparison.isSame(recorded, draft, this.#isInStep))
      return this.#differs(recorded, draft, stream);
    const skipped = this.#skippedPart(recorded);
    if (skipped !== undefined) return this.#isOutOfTurn(skipped, draft);
    this.#streams.get(stream)?.shift();
    this.#match(recorded);
    this.#isInStep &&= recorded.seq === (this.#ledger?.lastSeq ?? 0) + 1;
    return adopted(recorded, draft);
  }

  /**
   * The start of a part of a sequence that is recorded before this one and has not come. Each part
   * has a path of its own, so the order within the path does not show it.
   */
  #skippedPart(recorded: Event): Event | undefined {
    const line = this.#sequenceAround(recorded);
    if (line === undefined) return undefined;
    const before = this.#options.events.slice(this.#next, recorded.seq - 1);
    return before.find(
      (event) => this.#sequenceAround(event) === line && !this.#matched.has(event.seq),
    );
  }

  /** The path of the sequence in which an event starts a part. */
  #sequenceAround(event: Event): string | undefined {
    if (event.type !== 'invocation_start') return undefined;
    const path = parentOf(event.invocationId);
    return this.#sequences.has(path) ? path : undefined;
  }

  #isOutOfTurn(skipped: Event, draft: EventDraft): undefined {
    const path = skipped.invocationId ?? '';
    if (this.#differing.has(path)) return undefined;
    this.#differing.add(path);
    const subject = `${capital(nameOf(skipped))} is recorded, and ${nameOf(draft)} came instead`;
    this.#note(skipped, {
      kind: 'control_flow',
      subject,
      recorded: this.#comparison.normalized(skipped),
      replayed: this.#comparison.normalized(draft),
      differences: [],
    });
    return undefined;
  }

  #isServed(end: Event): boolean {
    const { model, tools } = this.#options;
    if (end.type === 'model_end')
      return model === 'recorded' && !(end.substitutedBy?.startsWith('beforeModel') ?? false);
    return tools === 'recorded';
  }

  #match({ seq }: Event): void {
    this.progress++;
    this.#matched.add(seq);
  }

  #waitFor(call: AwaitedOutcome): Promise<RecordedOutcome> {
    this.progress++;
    return this.#awaited.wait(call);
  }

  /**
   * Notes a draft that the record does not have. It is no divergence when the process may have done
   * it after the end of the record.
   */
  #extra(draft: EventDraft): undefined {
    const { events, to, isCut } = this.#options;
    if (isMark(draft) || this.#differing.has(draft.invocationId ?? '')) return undefined;
    this.unrecorded ??= draft;
    if (isCut) return undefined;
    const at = this.frontier ?? (events[to - 1] as Event);
    const replayed = this.#comparison.normalized(draft);
    this.#differing.add(draft.invocationId ?? '');
    const path = draft.invocationId ?? '';
    if (isSameChild(at, draft)) {
      const recorded = this.#comparison.normalized(at);
      const subject = `The ${draft.kind} "${draft.name}" is started with another input`;
      this.diverge({
        seq: at.seq,
        path,
        kind: 'arguments',
        subject,
        recorded,
        replayed,
        differences: jsonDifferences(recorded, replayed),
      });
      return undefined;
    }
    const subject =
      `${capital(nameOf(draft))} is not recorded; ` + `what is recorded there is ${nameOf(at)}`;
    this.diverge({ seq: at.seq, path, kind: 'control_flow', subject, replayed, differences: [] });
    return undefined;
  }

  #differs(recorded: Event, draft: EventDraft, stream: string): undefined {
    const path = recorded.invocationId ?? '';
    if (this.#differing.has(path) && this.#options.tools !== 'live') return undefined;
    this.#differing.add(path);
    // From here on the same recipe makes another prompt.
    this.#isInStep = false;
    if (this.#options.tools === 'live' && recorded.type === draft.type) {
      this.#streams.get(stream)?.shift();
      this.#match(recorded);
    }
    this.#note(recorded, this.#comparison.divergence(recorded, draft));
    return undefined;
  }

  #note({ seq, invocationId = '' }: Event, divergence: UnplacedDivergence): void {
    this.diverge({ seq, path: invocationId, ...divergence });
  }
}

/**
 * Returns a recorded event in the place of a draft. The recipe stays that of the draft: it refers
 * to places of the ledger that is written.
 */
function adopted(recorded: Event, draft: EventDraft): EventDraft & RecordedPlace {
  const { v: _v, seq: _seq, ...kept } = recorded;
  return (draft.type === 'model_start' ? { ...kept, recipe: draft.recipe } : kept) as EventDraft &
    RecordedPlace;
}
