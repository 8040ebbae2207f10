import type { JsonObject, JsonValue } from '../base/json.ts';
import { promptOf } from '../context/recipe.ts';
import { callFingerprint } from '../effects/call-fingerprint.ts';
import type { Event, EventDraft, EventOf } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type {
  LedgerTape,
  TapedAdmission,
  TapedAttempt,
  TapedCall,
  TapedCheck,
  TapedOutcome,
  TapedPlace,
} from '../ledger/tape.ts';
import { comparableOf, kindOf, nameOf } from './comparable.ts';
import type { Divergence } from './divergence.ts';
import { isSameJson, jsonDifferences } from './json-difference.ts';
import { attemptKey, isRaw, modelKey, type Outcome, outcomesIn } from './outcomes.ts';
import { promptDivergence } from './prompt-difference.ts';
import { comesFromOutside, isMark, streamOf } from './streams.ts';

/** What is recorded, and which part of it is replayed now. */
export interface TapeOptions {
  readonly events: readonly Event[];
  /** The first event that is replayed, and the one behind the last, as places in the list. */
  readonly from: number;
  readonly to: number;
  /** Whether the process went on after what is recorded: what it did then is no divergence. */
  readonly isCut: boolean;
  readonly model: 'recorded' | 'live';
  readonly tools: 'recorded' | 'live';
  readonly resolve: (value: unknown) => unknown;
  readonly normalize: (value: JsonValue) => JsonValue;
  /** Seqs of what comes from outside and is made again all the same. */
  readonly made: ReadonlySet<number>;
}

interface Waiting {
  readonly outcome: Outcome;
  readonly release: (outcome: TapedOutcome) => void;
  readonly landing: TapedAttempt['landing'] | undefined;
  readonly takesRaw: boolean;
}

type Draft = EventDraft | (EventDraft & TapedPlace);

/**
 * Holds one stretch of a record: serves what came of calls when it is their turn, and compares what
 * code does with what it did.
 */
export class RecordedTape implements LedgerTape {
  /** Grows with everything that happens. */
  progress = 0;
  readonly divergences: Divergence[] = [];
  /** The first that came and is not recorded. */
  unrecorded: EventDraft | undefined;
  readonly #options: TapeOptions;
  readonly #streams = new Map<string, EventOf<Event['type']>[]>();
  readonly #matched = new Set<number>();
  readonly #outcomes: ReadonlyMap<string, Outcome[]>;
  /** Who waits for an outcome, by the seq of its first event. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #all: Waiting[] = [];
  readonly #asked = new Set<number>();
  /** Calls whose bodies are not run: what is below them is put where it stood. */
  readonly #served = new Set<string>();
  readonly #hasChildren: ReadonlySet<string>;
  /** Paths of sequences, whose parts come one after the other. */
  readonly #sequences: ReadonlySet<string>;
  readonly #args = new Map<string, unknown>();
  readonly #differing = new Set<string>();
  #next: number;
  #ledger: Ledger | undefined;
  /** Whether every event so far has the seq that it has in the record. */
  #isInStep = true;
  #isClosed = false;

  constructor(options: TapeOptions) {
    this.#options = options;
    const { events, from, to } = options;
    this.#next = from;
    const part = events.slice(from, to);
    this.#hasChildren = callsWithChildren(events.slice(0, to));
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

  /** The ledger that is written against this record. */
  attach(ledger: Ledger): void {
    this.#ledger = ledger;
    this.#isInStep = ledger.lastSeq === this.#options.from;
  }

  /**
   * The first event that has not come yet; `undefined`: all have. Marks of processes are waited for
   * by nobody.
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

  /** Whether an event says what came from outside, so that it is put where it stood. */
  isFromOutside(event: Event): boolean {
    return comesFromOutside(event) && !this.#options.made.has(event.seq);
  }

  /** Whether an event belongs to what is put where it stood because nobody runs what made it. */
  isBelowServed(event: Event): boolean {
    return this.#isBelowServed(
      isFlush(event) ? (landingOf(this.#options.events, event) ?? event) : event,
    );
  }

  #isBelowServed(event: Event): boolean {
    for (const callId of this.#served) {
      const below = `${callId}/`;
      if (
        event.invocationId?.startsWith(below) ||
        ('callId' in event && event.callId.startsWith(below)) ||
        tellsOf(event, below)
      )
        return true;
    }
    return false;
  }

  /** Whether somebody waits for the outcome that begins with this event. */
  isReleasable({ seq }: Event): boolean {
    return this.#waiting.has(seq);
  }

  /** Whether it was asked for this event before, so that it is on its way. */
  isAsked({ seq }: Event): boolean {
    if (this.#asked.has(seq)) return true;
    this.#asked.add(seq);
    return false;
  }

  /**
   * Gives the outcome that begins with this event to whoever waits for it. Returns whether somebody
   * does.
   */
  release(first: Event): boolean {
    const waiting = this.#waiting.get(first.seq);
    if (waiting === undefined) return false;
    this.#waiting.delete(first.seq);
    if (waiting.takesRaw && isRaw(waiting.outcome)) {
      this.progress++;
      waiting.release({ raw: waiting.outcome.events });
      return true;
    }
    waiting.landing?.(waiting.outcome.events);
    this.inject(waiting.outcome.events);
    const { events, end } = waiting.outcome;
    waiting.release({
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

  /** Nothing more is served: whoever waits goes on without. */
  close(): void {
    this.#isClosed = true;
    for (const { release } of this.#all) release({ landed: undefined });
  }

  /** Notes that something did not come as it is recorded. */
  diverge(divergence: Divergence): void {
    this.progress++;
    this.divergences.push(divergence);
  }

  modelEnded({ path, round, attempt, landing }: TapedCall): Promise<TapedOutcome> | undefined {
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
      return this.#never();
    }
    return this.#waitFor(outcome, landing, true);
  }

  prepared(callId: string, args: unknown): void {
    this.#args.set(callId, args);
  }

  attemptEnded({
    callId,
    attempt,
    mayRun,
    takesRaw,
    landing,
  }: TapedAttempt): Promise<TapedOutcome> | undefined {
    if (this.#options.tools === 'live') return undefined;
    if (mayRun && this.#hasChildren.has(callId)) return undefined;
    this.#served.add(callId);
    return this.#waitFor(
      this.#outcomes.get(attemptKey(callId, attempt))?.shift(),
      landing,
      takesRaw,
    );
  }

  circuit({ path, callId, tool }: TapedCheck): TapedAdmission | undefined {
    if (this.#options.tools === 'live') return undefined;
    const next = this.#streams.get(`decision ${path} circuit_breaker ${callId}`)?.[0];
    if (next?.type !== 'decision' || next.data?.['tool'] !== tool) return undefined;
    const { failures, retryInMs } = next.data as {
      readonly failures: number;
      readonly retryInMs: number;
    };
    if (next.decision === 'refuse') return { admitted: false, failures, retryInMs };
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

  take(draft: EventDraft): (EventDraft & TapedPlace) | undefined {
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
    if (!this.#isSame(recorded, draft)) return this.#differs(recorded, draft, stream);
    const skipped = this.#skippedPart(recorded);
    if (skipped !== undefined) return this.#isOutOfTurn(skipped, draft);
    this.#streams.get(stream)?.shift();
    this.#match(recorded);
    this.#isInStep &&= recorded.seq === (this.#ledger?.lastSeq ?? 0) + 1;
    return adopted(recorded, draft);
  }

  /**
   * The part of a sequence that is recorded before this one and has not begun: each part has a
   * path, and so an order, of its own.
   */
  #skippedPart(recorded: Event): Event | undefined {
    const line = this.#sequenceAround(recorded);
    if (line === undefined) return undefined;
    const before = this.#options.events.slice(this.#next, recorded.seq - 1);
    return before.find(
      (event) => this.#sequenceAround(event) === line && !this.#matched.has(event.seq),
    );
  }

  /** The path of the sequence that an event starts a part of. */
  #sequenceAround(event: Event): string | undefined {
    if (event.type !== 'invocation_start') return undefined;
    const path = event.invocationId.slice(0, Math.max(0, event.invocationId.lastIndexOf('/')));
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
      recorded: this.#normalized(skipped),
      replayed: this.#normalized(draft),
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

  #never(): Promise<TapedOutcome> {
    return this.#waitFor(undefined);
  }

  #waitFor(
    outcome: Outcome | undefined,
    landing?: TapedAttempt['landing'],
    takesRaw = false,
  ): Promise<TapedOutcome> {
    this.progress++;
    const { promise, resolve } = Promise.withResolvers<TapedOutcome>();
    const waiting: Waiting = {
      outcome: outcome ?? { events: [], end: undefined as never },
      release: resolve,
      landing,
      takesRaw,
    };
    this.#all.push(waiting);
    const first = outcome?.events[0];
    if (first !== undefined) this.#waiting.set(first.seq, waiting);
    if (this.#isClosed) resolve({ landed: undefined });
    return promise;
  }

  /**
   * What is not recorded: no divergence when the process may have done it after what is recorded.
   */
  #extra(draft: EventDraft): undefined {
    const { events, to, isCut } = this.#options;
    if (isMark(draft) || this.#differing.has(draft.invocationId ?? '')) return undefined;
    this.unrecorded ??= draft;
    if (isCut) return undefined;
    const at = this.frontier ?? (events[to - 1] as Event);
    const replayed = this.#normalized(draft);
    this.#differing.add(draft.invocationId ?? '');
    const path = draft.invocationId ?? '';
    if (isSameChild(at, draft)) {
      const recorded = this.#normalized(at);
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
      `${capital(nameOf(draft))} is not recorded; what is recorded there is ` + `${nameOf(at)}`;
    this.diverge({ seq: at.seq, path, kind: 'control_flow', subject, replayed, differences: [] });
    return undefined;
  }

  /** A call whose arguments are not named was made with those of the model. */
  #named(recorded: Event, draft: EventDraft): EventDraft {
    if (
      recorded.type !== 'tool_attempt' ||
      draft.type !== 'tool_attempt' ||
      recorded.fingerprint !== undefined
    )
      return draft;
    const { fingerprint, ...unnamed } = draft;
    const call = this.#options.events.find(
      (event) => event.type === 'tool_call' && event.callId === draft.callId,
    );
    if (fingerprint === undefined || call?.type !== 'tool_call') return draft;
    const ofModel = callFingerprint(draft.tool ?? call.name, this.#options.resolve(call.args));
    return fingerprint === ofModel ? unnamed : draft;
  }

  #isSame(recorded: Event, given: EventDraft): boolean {
    const draft = this.#named(recorded, given);
    const before = comparableOf(recorded);
    const now = comparableOf(draft);
    if (
      !isSameJson(before, now) &&
      !isSameJson(this.#normalized(recorded), this.#normalized(draft))
    )
      return false;
    return (
      draft.type !== 'model_start' || this.#hasSamePrompt(recorded as EventOf<'model_start'>, draft)
    );
  }

  #normalized(event: Draft): JsonValue {
    const { resolve, normalize } = this.#options;
    const whole = (resolve(this.#ledger?.resolve(comparableOf(event)) ?? comparableOf(event)) ??
      null) as JsonValue;
    return normalize(whole);
  }

  #hasSamePrompt(
    recorded: EventOf<'model_start'>,
    draft: Extract<EventDraft, { type: 'model_start' }>,
  ): boolean {
    // As long as both ledgers are the same, the same recipe makes the same prompt.
    if (
      this.#isInStep &&
      isSameJson(recorded.recipe as unknown as JsonValue, draft.recipe as unknown as JsonValue)
    )
      return true;
    const { before, now } = this.#prompts(recorded, draft);
    return isSameJson(before, now);
  }

  #prompts(recorded: EventOf<'model_start'>, draft: Extract<EventDraft, { type: 'model_start' }>) {
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
    const before = this.#normalized(recorded);
    const now = this.#normalized(draft);
    if (recorded.type === 'model_start' && draft.type === 'model_start') {
      const prompts = this.#prompts(recorded, draft);
      this.#note(recorded, promptDivergence({ ...prompts, recorded, draft }));
    } else if (recorded.type !== draft.type) {
      const subject = `${capital(nameOf(recorded))} is recorded, and ${nameOf(draft)} came instead`;
      this.#note(recorded, {
        kind: 'control_flow',
        subject,
        recorded: before,
        replayed: now,
        differences: jsonDifferences(before, now),
      });
    } else this.#note(recorded, this.#changed(recorded, draft, before, now));
    return undefined;
  }

  #changed(
    recorded: Event,
    draft: EventDraft,
    before: JsonValue,
    now: JsonValue,
  ): Omit<Divergence, 'seq' | 'path'> {
    const kind = kindOf(recorded.type);
    if (
      recorded.type === 'tool_attempt' &&
      draft.type === 'tool_attempt' &&
      recorded.tool === draft.tool &&
      recorded.attempt === draft.attempt
    ) {
      const args = this.#args.get(draft.callId);
      const shown =
        args === undefined
          ? {}
          : { replayed: this.#options.normalize(JSON.parse(JSON.stringify(args)) as JsonValue) };
      const subject =
        `${this.#toolOf(draft.callId)} is called with other arguments; of the recorded ones ` +
        `the ledger has the fingerprint ${recorded.fingerprint}`;
      return {
        kind,
        subject,
        recorded: before,
        ...shown,
        differences: jsonDifferences(before, now),
      };
    }
    const differences = jsonDifferences(before, now);
    const where = differences.map(({ path }) => path).slice(0, 3);
    const subject =
      `${capital(nameOf(recorded))} differs in ` +
      `${where.join(', ')}${differences.length > 3 ? ' and more' : ''}`;
    return { kind, subject, recorded: before, replayed: now, differences };
  }

  #toolOf(callId: string): string {
    const call = this.#options.events.find(
      (event) => event.type === 'tool_call' && event.callId === callId,
    );
    return call?.type === 'tool_call' ? `${call.name} (${callId})` : callId;
  }

  #note({ seq, invocationId = '' }: Event, divergence: Omit<Divergence, 'seq' | 'path'>): void {
    this.diverge({ seq, path: invocationId, ...divergence });
  }
}

/**
 * A recorded event in the place of a draft. The recipe stays that of the ledger that is written: it
 * refers to its places.
 */
function adopted(recorded: Event, draft: EventDraft): EventDraft & TapedPlace {
  const { v: _v, seq: _seq, ...kept } = recorded;
  return (draft.type === 'model_start' ? { ...kept, recipe: draft.recipe } : kept) as EventDraft &
    TapedPlace;
}

/** Whether an event is what a body has written or noted before something that it started. */
function isFlush(event: Event): boolean {
  return event.type === 'memory' || (event.type === 'state_change' && event.flush !== undefined);
}

/** Whether a decision is about something with a path that begins like this. */
function tellsOf(event: Event, below: string): boolean {
  return (
    event.type === 'decision' &&
    Object.values(event.data ?? {}).some(
      (value) => typeof value === 'string' && value.startsWith(below),
    )
  );
}

/**
 * Whether the same caller starts the same in another place: without a key of its own, the place of
 * a child follows from its input.
 */
function isSameChild(
  recorded: Event,
  draft: EventDraft,
): draft is Extract<EventDraft, { type: 'invocation_start' }> {
  if (recorded.type !== 'invocation_start' || draft.type !== 'invocation_start') return false;
  const [before, now] = [recorded.invocationId, draft.invocationId].map((path) => path.split('#'));
  return before?.length === 2 && now?.length === 2 && before[0] === now[0];
}

/** What was started with the writes that this event is one of. */
function landingOf(events: readonly Event[], event: Event): Event | undefined {
  let at = event.seq;
  for (
    let next = events[at];
    next !== undefined &&
    next.at === event.at &&
    next.invocationId === event.invocationId &&
    isFlush(next);
    next = events[at]
  )
    at++;
  const landing = events[at];
  return landing?.type === 'invocation_start' || landing?.type === 'tool_attempt'
    ? landing
    : undefined;
}

/** Calls of tools that have children or effects of their own. */
function callsWithChildren(events: readonly Event[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const event of events) if (event.type === 'tool_call') calls.add(event.callId);
  const found = new Set<string>();
  const add = (path: string): void => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = path.slice(0, end);
      if (calls.has(above)) found.add(above);
    }
  };
  for (const event of events) {
    if (event.type === 'invocation_start') add(event.invocationId);
    else if (event.type === 'tool_attempt') add(event.callId);
  }
  return found;
}

/** Providers number their calls as they like. */
export function withoutProviderIds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutProviderIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'toolCallId' ? '…' : withoutProviderIds(part as JsonValue),
    ]),
  );
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
