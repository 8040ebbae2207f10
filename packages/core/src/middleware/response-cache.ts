import { sha256 } from '../base/hash.ts';
import { checkOptions } from '../base/invalid-option.ts';
import { canonicalJson, deepFreeze } from '../base/json.ts';
import { isCount, isPositive, type OptionChecks } from '../base/options.ts';
import type {
  HookContext,
  Middleware,
  ModelCall,
  ModelResult,
  StepEvent,
  SubstituteAnswer,
} from '../runnables/hooks.ts';

export interface ResponseCacheOptions {
  /**
   * Milliseconds for which an answer is given again, by the clock of the runtime. @default 300_000
   */
  readonly ttlMs?: number;
  /** Most answers that are kept; the oldest is removed first. @default 1_000 */
  readonly max?: number;
}

const optionChecks: OptionChecks<ResponseCacheOptions> = { ttlMs: isPositive, max: isCount };

interface Entry {
  readonly answer: SubstituteAnswer;
  readonly until: number;
}

const wholeReasons: ReadonlySet<string | undefined> = new Set(['stop', 'tool-calls']);

/**
 * Answers equal model calls from memory: the same model, prompt, tools and settings. Only whole
 * answers are kept, and none that something else gave in the place of a model. Each value that is
 * returned by this function has answers of its own, which all users of the runtime share.
 * @throws InvalidOptionError
 */
export function responseCache(options: ResponseCacheOptions = {}): Middleware {
  checkOptions('responseCache', options, optionChecks);
  const { ttlMs = 300_000, max = 1_000 } = options;
  const entries = new Map<string, Entry>();
  /**
   * Keys of the calls under way, by invocation. Failed calls leave theirs behind, so the same limit
   * applies.
   */
  const asked = new Map<string, string>();
  return Object.freeze({
    name: 'responseCache',
    beforeCall: (ctx: HookContext, call: ModelCall) => {
      const key = keyOf(call);
      const entry = entries.get(key);
      if (entry !== undefined && entry.until > ctx.now()) return entry.answer;
      if (entry !== undefined) entries.delete(key);
      keep(asked, callerOf(ctx), key, max);
      return undefined;
    },
    afterModel: (ctx: HookContext, result: ModelResult) => {
      const caller = callerOf(ctx);
      const key = asked.get(caller);
      asked.delete(caller);
      if (key === undefined || !mayBeKept(result)) return undefined;
      const stepEvents = deepFreeze(structuredClone(result.stepEvents) as StepEvent[]);
      const terminal = !stepEvents.some(({ type }) => type === 'tool_call');
      keep(
        entries,
        key,
        { answer: Object.freeze({ stepEvents, terminal }), until: ctx.now() + ttlMs },
        max,
      );
      return undefined;
    },
  });
}

function keyOf({ model, options }: ModelCall): string {
  return sha256(canonicalJson([model, { ...options, prompt: withEvenIds(options.prompt) }]));
}

type Prompt = ModelCall['options']['prompt'];

/**
 * Tool calls by their number: providers name them anew each time, though their content is the same.
 */
function withEvenIds(prompt: Prompt): unknown {
  const numbers = new Map<string, number>();
  const numbered = (part: object): object => {
    if (!('toolCallId' in part) || typeof part.toolCallId !== 'string') return part;
    const number = numbers.get(part.toolCallId) ?? numbers.size;
    numbers.set(part.toolCallId, number);
    return { ...part, toolCallId: number };
  };
  return prompt.map((message) =>
    typeof message.content === 'string'
      ? message
      : { ...message, content: message.content.map(numbered) },
  );
}

/** An invocation makes one model call at a time. */
function callerOf({ session, invocationId }: HookContext): string {
  return `${session.app}\n${session.id}\n${invocationId}`;
}

function mayBeKept({ stepEvents, finishReason, substitutedBy }: ModelResult): boolean {
  if (substitutedBy !== undefined || !wholeReasons.has(finishReason) || stepEvents.length === 0)
    return false;
  // Providers want the thoughts before a tool call back with a signature, which is not kept.
  return !(
    stepEvents.some(({ type }) => type === 'thought') &&
    stepEvents.some(({ type }) => type === 'tool_call')
  );
}

/** A map gives its keys in the order in which they were set. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}
