import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { AdjutantError } from '../base/error.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { type Event, type EventOf, foldEvent } from '../ledger/event.ts';
import {
  emptyInvocationTree,
  type InvocationTree,
  invocationFold,
} from '../ledger/folds/invocation-fold.ts';
import type { PromptRecipe, RecipeSegment } from '../ledger/prompt-recipe.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import { currentEncoder, isKnownEncoder } from './encoders.ts';
import type { EncoderTrace } from './message-encoder.ts';
import { encodeRecipe, Histories, type RenderedPrompt } from './prompt.ts';

/**
 * Number of rounds after which the segments of a recipe are written in full again. A rebuild thus
 * never reads far back.
 */
const wholeEvery = 64;

/** Recorded state against which a new recipe is written. */
export interface RecipeBase {
  /** Segments of the invocation's last prompt, all of them. */
  readonly previous: readonly RecipeSegment[] | undefined;
  /** Returns true when the ledger already holds this content. */
  readonly isRecorded: (hash: string) => boolean;
}

/** Returns the recipe of a prompt: only the parts that are new since the invocation's last one. */
export function writeRecipe(
  rendered: RenderedPrompt,
  settings: { readonly hash: string; readonly content: JsonValue },
  resultLimit: number,
  round: number,
  base: RecipeBase,
): PromptRecipe {
  const contents: Record<string, JsonValue> = {};
  for (const [hash, content] of rendered.contents)
    if (!base.isRecorded(hash)) contents[hash] = content;
  if (!base.isRecorded(settings.hash)) contents[settings.hash] = settings.content;
  const keep = round % wholeEvery === 1 ? 0 : commonPrefix(rendered.segments, base.previous ?? []);
  return {
    encoder: currentEncoder,
    segments: keep === 0 ? rendered.segments : rendered.segments.slice(keep),
    ...(keep === 0 ? {} : { keep }),
    resultLimit,
    settings: settings.hash,
    ...(rendered.awaited === undefined ? {} : { awaited: rendered.awaited }),
    ...(Object.keys(contents).length === 0 ? {} : { contents }),
  };
}

function commonPrefix(a: readonly RecipeSegment[], b: readonly RecipeSegment[]): number {
  let length = 0;
  while (
    length < a.length &&
    length < b.length &&
    sameSegment(a[length] as RecipeSegment, b[length] as RecipeSegment)
  )
    length++;
  return length;
}

function sameSegment(a: RecipeSegment, b: RecipeSegment): boolean {
  if ('hash' in a) return 'hash' in b && a.hash === b.hash;
  if ('history' in a) return 'history' in b && a.history === b.history && a.to === b.to;
  return 'events' in b && canonicalJson(a.events) === canonicalJson(b.events);
}

/** Returns all segments of a recipe, including those that it shares with the call before it. */
function wholeSegments(
  recipe: PromptRecipe,
  previous: readonly RecipeSegment[] | undefined,
): readonly RecipeSegment[] {
  return recipe.keep === undefined
    ? recipe.segments
    : [...(previous ?? []).slice(0, recipe.keep), ...recipe.segments];
}

/** Returns all segments of the last of these model calls of one invocation. */
export function lastSegments(
  starts: readonly EventOf<'model_start'>[],
): readonly RecipeSegment[] | undefined {
  let first = starts.length - 1;
  while (first > 0 && (starts[first] as EventOf<'model_start'>).recipe.keep !== undefined) first--;
  let segments: readonly RecipeSegment[] | undefined;
  for (const start of starts.slice(Math.max(0, first)))
    segments = wholeSegments(start.recipe, segments);
  return segments;
}

/**
 * Error when a recipe cannot be followed. The model call does not exist, the ledger is not whole,
 * or a later version wrote it.
 */
export class PromptNotFoundError extends AdjutantError {
  constructor(data: { seq: number; reason: string } | { call: number; reason: string }) {
    const which = 'seq' in data ? `event ${data.seq}` : `model call ${data.call}`;
    super('prompt_not_found', `The prompt of ${which} cannot be shown: ${data.reason}.`, data);
  }
}

/**
 * Returns the exact call that a model received: its prompt, tools and settings, rebuilt from the
 * ledger. Its canonical JSON equals, byte for byte, that of the call options that the model
 * received. `abortSignal` and headers are left out of the comparison.
 * @param source a session, or its events
 * @param resolve replaces references by the large values that they stand for @default for a
 * session: the values that it has loaded; for events: nothing is replaced
 * @throws PromptNotFoundError
 */
export function promptOf(
  source: readonly Event[] | PromptSource,
  seq: number,
  resolve?: ResolveValue,
): LanguageModelV4CallOptions {
  return 'events' in source
    ? rebuildCall(source.events, seq, resolve ?? source.resolve).call
    : rebuildCall(source, seq, resolve ?? ((value) => value)).call;
}

/**
 * Returns the exact `n`-th model call of a session, from 1, in the order of the ledger. Failed
 * attempts count. Otherwise like `promptOf`.
 * @throws PromptNotFoundError
 */
export function promptAt(
  source: readonly Event[] | PromptSource,
  n: number,
  resolve?: ResolveValue,
): LanguageModelV4CallOptions {
  const events = 'events' in source ? source.events : source;
  let calls = 0;
  for (const { type, seq } of events)
    if (type === 'model_start' && ++calls === n) return promptOf(source, seq, resolve);
  throw new PromptNotFoundError({ call: n, reason: `the session has ${calls} model calls` });
}

type ResolveValue = (value: unknown) => unknown;
/** Parts of a session that `promptOf` reads. */
type PromptSource = {
  readonly events: readonly Event[];
  readonly resolve: ResolveValue;
};

/** A call that was made again, with the parts of its making. */
export interface RebuiltCall {
  readonly start: EventOf<'model_start'>;
  readonly call: LanguageModelV4CallOptions;
  readonly segments: readonly RecipeSegment[];
  /** Histories of the invocation, up to the event at which the prompt was made. */
  readonly histories: Histories;
  readonly invocations: InvocationTree;
}

/**
 * Makes a recorded call again.
 * @param trace is told of which events the messages were made
 * @throws PromptNotFoundError
 */
export function rebuildCall(
  events: readonly Event[],
  seq: number,
  resolve: ResolveValue,
  trace?: EncoderTrace,
): RebuiltCall {
  const start = startAt(events, seq);
  const { encoder } = start.recipe;
  const { content, starts } = recordedContents(events, start, resolve);
  const segments = lastSegments(starts) ?? [];
  // Events recorded between the making of the prompt and the call are not in the prompt.
  const made = segments.reduce(
    (last, segment) => ('history' in segment ? Math.min(last, segment.to) : last),
    seq - 1,
  );
  const prefix = events.slice(0, made);
  const invocations = emptyInvocationTree();
  for (const event of prefix) foldEvent(invocationFold, invocations, event);
  const options = {
    encoder,
    resultLimit: start.recipe.resultLimit,
    resolve,
    toolName: toolWireName,
    model: start.model,
    trace,
  };
  const histories = new Histories(
    { events: prefix, invocations },
    start.invocationId,
    start.agent,
    options,
  );
  const prompt = encodeRecipe(segments, histories, {
    content,
    event: (at) => events[at - 1] as Event,
  });
  const { maxOutputTokens } = start;
  const call = {
    prompt,
    ...(content(start.recipe.settings) as JsonObject),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
  return { start, call, segments, histories, invocations };
}

/** Returns the start of a call, whose prompt this version can make again. */
function startAt(events: readonly Event[], seq: number): EventOf<'model_start'> {
  const start = events[seq - 1];
  if (start?.type !== 'model_start')
    throw new PromptNotFoundError({ seq, reason: 'it is not a model_start event' });
  const { encoder } = start.recipe;
  if (isKnownEncoder(encoder)) return start;
  throw new PromptNotFoundError({
    seq,
    reason: `this version does not know encoder ${String(encoder)}`,
  });
}

/** Returns the calls of an invocation up to one, and the recorded contents by their hash. */
function recordedContents(
  events: readonly Event[],
  { invocationId, seq }: EventOf<'model_start'>,
  resolve: ResolveValue,
): {
  readonly starts: readonly EventOf<'model_start'>[];
  readonly content: (hash: string) => JsonValue;
} {
  const starts: EventOf<'model_start'>[] = [];
  const contents = new Map<string, JsonValue>();
  for (const event of events.slice(0, seq)) {
    if (event.type !== 'model_start') continue;
    for (const [hash, content] of Object.entries(event.recipe.contents ?? {}))
      contents.set(hash, content);
    if (event.invocationId === invocationId) starts.push(event);
  }
  const content = (hash: string): JsonValue => {
    const found = contents.get(hash);
    if (found === undefined)
      throw new PromptNotFoundError({ seq, reason: `the ledger has no content ${hash}` });
    return resolve(found) as JsonValue;
  };
  return { starts, content };
}
