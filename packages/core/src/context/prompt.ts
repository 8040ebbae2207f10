import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { contentHash } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';
import type { AwaitedText, HistoryScope, RecipeSegment } from '../ledger/prompt-recipe.ts';
import type {
  PromptEvent,
  RenderContext,
  RenderState,
  SyntheticMessage,
  ToolChoice,
} from '../runnables/render-context.ts';
import { AnsweringModels } from './answering-models.ts';
import { messageEncoder } from './encoders.ts';
import { eventSize } from './event-size.ts';
import { History, type LedgerView } from './history.ts';
import type { EncoderOptions, MessageEncoder } from './message-encoder.ts';
import type { AwaitedMessage } from './render.ts';

/** Section of a prompt that renderers are making. */
type Segment =
  | { readonly kind: 'message'; readonly message: SyntheticMessage }
  | { readonly kind: 'history'; readonly scope: HistoryScope }
  | { readonly kind: 'events'; readonly events: readonly PromptEvent[] };

/** Histories that an agent invocation has read; they live as long as it does. */
export class Histories {
  readonly #ledger: LedgerView;
  readonly #path: string;
  readonly #agent: string;
  readonly options: EncoderOptions;
  readonly #byScope = new Map<HistoryScope, History>();

  constructor(ledger: LedgerView, path: string, agent: string, options: EncoderOptions) {
    this.#ledger = ledger;
    this.#path = path;
    this.#agent = agent;
    const models = new AnsweringModels(ledger.invocations);
    this.options = { ...options, answeredBy: (event) => models.of(event) };
  }

  get lastSeq(): number {
    return this.#ledger.events.length;
  }

  /**
   * History from which prompts were made so far: the longest, if there are several. `undefined`:
   * the prompts contain no history.
   */
  get main(): History | undefined {
    let main: History | undefined;
    for (const history of this.#byScope.values()) {
      if (history.isUsed && history.events().length > (main?.events().length ?? -1)) main = history;
    }
    return main;
  }

  /** True when an event is the ledger's own, and not one made by a renderer. */
  isRecorded(event: Event): boolean {
    return this.#ledger.events[event.seq - 1] === event;
  }

  of(scope: HistoryScope): History {
    let history = this.#byScope.get(scope);
    if (history === undefined) {
      history = new History(this.#ledger, this.#path, this.#agent, scope, this.options);
      this.#byScope.set(scope, history);
    }
    return history;
  }
}

/** Inputs of a prompt. */
interface PromptBase {
  readonly state: RenderState;
  readonly histories: Histories;
  readonly rewrite: RewriteEvent | undefined;
}

/** Returns the event that prompts contain in the place of a recorded one. */
export type RewriteEvent = (event: Event) => PromptEvent;

class PromptContext implements RenderContext {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  readonly startedAt: number;
  readonly usage: RenderState['usage'];
  readonly tools: readonly string[];
  readonly toolChoice: ToolChoice | undefined;
  readonly segments: readonly Segment[];
  readonly #base: PromptBase;

  constructor(
    base: PromptBase,
    segments: readonly Segment[],
    tools: readonly string[],
    toolChoice: ToolChoice | undefined,
  ) {
    const { agent, invocationId, round, startedAt, usage } = base.state;
    this.agent = agent;
    this.invocationId = invocationId;
    this.round = round;
    this.startedAt = startedAt;
    this.#base = base;
    this.usage = usage;
    this.segments = segments;
    this.tools = tools;
    this.toolChoice = toolChoice;
  }

  get state(): RenderState['state'] {
    return this.#base.state.state;
  }

  get events(): readonly PromptEvent[] {
    return this.segments.flatMap((segment): readonly PromptEvent[] => {
      if (segment.kind === 'message') return [segment.message];
      return segment.kind === 'events'
        ? segment.events
        : this.#base.histories.of(segment.scope).events();
    });
  }

  charactersOf(event: PromptEvent): number {
    if (event.type === 'synthetic' || event.type === 'rewritten') return event.text.length;
    const { resultLimit, resolve } = this.#base.histories.options;
    return eventSize(event, resultLimit, resolve);
  }

  #with(
    segments: readonly Segment[],
    tools = this.tools,
    toolChoice = this.toolChoice,
  ): PromptContext {
    return new PromptContext(this.#base, segments, tools, toolChoice);
  }

  withEvents(events: readonly PromptEvent[]): RenderContext {
    return this.#with([{ kind: 'events', events }]);
  }

  append(event: PromptEvent): RenderContext {
    const segment: Segment =
      event.type === 'synthetic'
        ? { kind: 'message', message: event }
        : { kind: 'events', events: [event] };
    return this.#with([...this.segments, segment]);
  }

  includeHistory(scope: HistoryScope): RenderContext {
    return this.#with([...this.segments, this.#rewritten(scope) ?? { kind: 'history', scope }]);
  }

  /** Returns a history as single events when one of them was rewritten; otherwise `undefined`. */
  #rewritten(scope: HistoryScope): Segment | undefined {
    const { rewrite, histories } = this.#base;
    if (rewrite === undefined) return undefined;
    const recorded = histories.of(scope).events();
    const events = recorded.map(rewrite);
    return events.every((event, i) => event === recorded[i])
      ? undefined
      : { kind: 'events', events };
  }

  withTools(names: readonly string[]): RenderContext {
    return this.#with(this.segments, names);
  }

  withToolChoice(choice: ToolChoice): RenderContext {
    return this.#with(this.segments, this.tools, choice);
  }
}

/** Prompt with the segments from which it can be made again. */
export interface RenderedPrompt {
  readonly messages: LanguageModelV4Message[];
  readonly segments: readonly RecipeSegment[];
  /** Contents by the hash that the segments name. */
  readonly contents: ReadonlyMap<string, JsonValue>;
  /** Texts that were awaited; missing when there are none. */
  readonly awaited?: readonly AwaitedText[];
  /** Number of characters of text. */
  readonly characters: number;
  /** True when the arguments of a call are no object. */
  readonly hasOtherInput: boolean;
}

/** Returns an empty prompt for renderers to fill. */
export function promptContext(
  state: RenderState,
  histories: Histories,
  offered: { readonly tools: readonly string[]; readonly toolChoice: ToolChoice | undefined },
  rewrite?: RewriteEvent,
): RenderContext {
  return new PromptContext({ state, histories, rewrite }, [], offered.tools, offered.toolChoice);
}

/**
 * Encodes the prompt that renderers made.
 * @param awaited messages that it was waited for; later renderers may have left them out
 */
export function encodePrompt(
  context: RenderContext,
  histories: Histories,
  awaited: readonly AwaitedMessage[] = [],
): RenderedPrompt {
  const encoded = encodeSegments((context as PromptContext).segments, histories);
  if (awaited.length === 0) return encoded;
  const contents = new Map(encoded.contents);
  const texts = awaited.map(({ place, message }) => {
    const hash = hashOf(message);
    contents.set(hash, contentOf(message));
    return { place, hash };
  });
  return { ...encoded, contents, awaited: texts };
}

function encodeSegments(segments: readonly Segment[], histories: Histories): RenderedPrompt {
  const recipe: RecipeSegment[] = [];
  const contents = new Map<string, JsonValue>();
  const encoded = new SegmentEncoder(histories);
  for (const segment of segments) {
    if (segment.kind === 'history') {
      encoded.addHistory(segment.scope);
      recipe.push({ history: segment.scope, to: histories.lastSeq });
      continue;
    }
    const events =
      segment.kind === 'message'
        ? [segment.message]
        : segment.events.map((event) => recordable(event, histories));
    for (const event of events) encoded.add(event);
    recipe.push(...recipeOf(events, contents, histories));
  }
  return {
    messages: encoded.messages(),
    segments: recipe,
    contents,
    characters: encoded.characters,
    hasOtherInput: encoded.hasOtherInput,
  };
}

/**
 * Encoder that joins histories and single events to one prompt. Neighbouring events share a
 * `MessageEncoder`, so that a round among them stays whole.
 */
class SegmentEncoder {
  readonly #histories: Histories;
  #messages: LanguageModelV4Message[] = [];
  #open: MessageEncoder | undefined;
  characters = 0;
  hasOtherInput = false;

  constructor(histories: Histories) {
    this.#histories = histories;
  }

  add(event: PromptEvent): void {
    const { options } = this.#histories;
    this.#open ??= messageEncoder(options);
    options.trace?.event(event);
    this.#open.push(event, this.#histories.of('ancestors').isNative(event));
  }

  addHistory(scope: HistoryScope): void {
    this.#close();
    const history = this.#histories.of(scope);
    // `concat` copies the list, so that the caller's array does not grow with the history.
    this.#messages = this.#messages.concat(history.messages());
    this.characters += history.characters;
    if (history.hasOtherInput) this.hasOtherInput = true;
  }

  messages(): LanguageModelV4Message[] {
    this.#close();
    return this.#messages;
  }

  #close(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#messages = this.#messages.concat(open.messages());
    this.characters += open.characters;
    if (open.hasOtherInput) this.hasOtherInput = true;
  }
}

/**
 * Encodes recorded segments again. `content` returns the content of a hash, `event` the event of a
 * `seq`.
 */
export function encodeRecipe(
  segments: readonly RecipeSegment[],
  histories: Histories,
  source: {
    readonly content: (hash: string) => JsonValue;
    readonly event: (seq: number) => PromptEvent;
  },
): LanguageModelV4Message[] {
  const encoded = new SegmentEncoder(histories);
  for (const segment of segments) {
    if ('history' in segment) encoded.addHistory(segment.history);
    else if ('hash' in segment) {
      encoded.add(contentEvent(source.content(segment.hash)));
    } else
      for (const [first, last] of segment.events)
        for (let seq = first; seq <= last; seq++) encoded.add(source.event(seq));
  }
  return encoded.messages();
}

/**
 * Returns an event as it can be recorded. An event made by a renderer is reduced to JSON, for the
 * prompt as for its record.
 */
function recordable(event: PromptEvent, histories: Histories): PromptEvent {
  if (event.type === 'synthetic' || event.type === 'rewritten' || histories.isRecorded(event))
    return event;
  return JSON.parse(JSON.stringify(event)) as PromptEvent;
}

/** Returns the content to store for a message or event that is not in the ledger. */
function contentOf(event: PromptEvent): JsonValue {
  if (event.type === 'synthetic') return { role: event.role, text: event.text };
  return event.type === 'rewritten'
    ? { role: 'user', text: event.text }
    : (event as unknown as JsonValue);
}

function contentEvent(content: JsonValue): PromptEvent {
  if ('type' in (content as object)) return content as unknown as Event;
  const { role, text } = content as { role: 'system' | 'user'; text: string };
  return { type: 'synthetic', role, text };
}

const hashes = new WeakMap<object, string>();

function hashOf(event: PromptEvent): string {
  let hash = hashes.get(event);
  if (hash === undefined) {
    hash = contentHash(contentOf(event));
    hashes.set(event, hash);
  }
  return hash;
}

/**
 * Returns the segments of events: those of the ledger as ranges of `seq`, others by content hash.
 */
function recipeOf(
  events: readonly PromptEvent[],
  contents: Map<string, JsonValue>,
  histories: Histories,
): RecipeSegment[] {
  const segments: RecipeSegment[] = [];
  let ranges: [number, number][] = [];
  const closeRanges = (): void => {
    if (ranges.length > 0) segments.push({ events: ranges });
    ranges = [];
  };
  for (const event of events) {
    if (event.type === 'synthetic' || event.type === 'rewritten' || !histories.isRecorded(event)) {
      closeRanges();
      const hash = hashOf(event);
      contents.set(hash, contentOf(event));
      segments.push({ hash });
      continue;
    }
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === event.seq - 1) last[1] = event.seq;
    else ranges.push([event.seq, event.seq]);
  }
  closeRanges();
  return segments;
}
