import { defined } from '../base/defined.ts';
import type { ErrorRecord } from '../base/error.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { EventDraft, EventOf, EventType, StateChange } from '../ledger/event.ts';
import type { DivergenceKind } from './divergence.ts';

type Draft<Type extends EventType> = Omit<EventOf<Type>, 'v' | 'seq' | 'id' | 'at'>;
type Compared<Type extends EventType> = (event: Draft<Type>) => Readonly<Record<string, unknown>>;

/** Keeps the text of a failure: a step may have used it. */
const failure = (error: ErrorRecord | undefined): unknown =>
  error && { code: error.code, name: error.name, message: textOf(error) };

/** Leaves out the advice about an effect of unknown outcome, which differs between builds. */
function textOf({ code, message }: ErrorRecord): string {
  const advice = code === 'effect_unknown' ? message.lastIndexOf(' Find out ') : -1;
  return advice < 0 ? message : message.slice(0, advice);
}

/**
 * Combines changes into one for each key. Older builds kept only one change for each key, even
 * after several writes.
 */
function summedUp(changes: readonly StateChange[]): readonly StateChange[] {
  const byKey = new Map<string, StateChange>();
  for (const { key, oldValue, newValue } of changes) {
    const before = byKey.has(key) ? byKey.get(key)?.oldValue : oldValue;
    byKey.set(key, {
      key,
      ...defined({ oldValue: before, newValue }),
    });
  }
  return [...byKey.values()];
}

/**
 * Members of each event that two runs of the same code have in common: decisions, questions, calls,
 * writes and findings. Ids, times, owners and members that depend on them are left out. Prompts are
 * compared separately.
 */
const compared: { readonly [Type in EventType]: Compared<Type> } = {
  user: ({ text, parts }) => ({ text, parts }),
  assistant: ({ agent, text, round, output, cut }) => ({ agent, text, round, output, cut }),
  thought: ({ agent, text, round }) => ({ agent, text, round }),
  tool_call: ({ callId, name, args, invalid, round, index }) => ({
    callId,
    name,
    args,
    invalid,
    round,
    index,
  }),
  tool_attempt: ({ callId, attempt, tool, fingerprint }) => ({
    callId,
    attempt,
    tool,
    fingerprint,
  }),
  tool_result: ({
    callId,
    name,
    attempt,
    result,
    effect,
    settled,
    next,
    editedArgs,
    notes,
    fallback,
    retryAfterMs,
  }) => ({
    callId,
    name,
    attempt,
    result: { ...result },
    effect,
    settled,
    next,
    editedArgs,
    notes: notes?.length === 0 ? undefined : notes,
    fallback,
    isRepeated: retryAfterMs !== undefined,
  }),
  tool_yield: ({ callId, name, args, kind, generation, attempt, request }) => ({
    callId,
    name,
    args,
    kind,
    generation,
    attempt,
    // Older builds did not tell people of it.
    request: { ...request, destructive: undefined },
  }),
  tool_input: ({ callId, decision, input, reason }) => ({ callId, decision, input, reason }),
  state_change: ({ scope, scopeId, source, changes, flush, refresh }) => ({
    scope,
    scopeId,
    source,
    changes: summedUp(changes),
    flush,
    refresh,
  }),
  invocation_start: ({ kind, name, version, mode, input, branch }) => ({
    kind,
    name,
    version,
    mode,
    // The end of a sleep depends on the time at which the code came to it.
    input: kind === 'sleep' ? undefined : input,
    branch,
  }),
  invocation_yield: ({ reason }) => ({ reason }),
  invocation_resume: () => ({}),
  invocation_end: ({ status, output, error, stopReason, next }) => ({
    status,
    output,
    error: failure(error),
    stopReason,
    next,
  }),
  invocation_reopen: ({ reason }) => ({ reason }),
  model_start: ({ agent, round, attempt, model, maxOutputTokens }) => ({
    agent,
    round,
    attempt,
    model,
    maxOutputTokens,
  }),
  model_end: ({ round, attempt, status, error, substitutedBy, retryAfterMs }) => ({
    round,
    attempt,
    status,
    error: failure(error),
    substitutedBy,
    isRepeated: retryAfterMs !== undefined,
  }),
  handoff: ({ from, to, reason, depth }) => ({ from, to, reason, depth }),
  decision: ({ component, decision, data, tell }) => ({ component, decision, data, tell }),
  compaction: ({ strategy, reason, covers, overlap, summary, resultLimit }) => ({
    strategy,
    reason,
    covers: covers.length,
    overlap,
    summary,
    resultLimit,
  }),
  memory: ({ text, key }) => ({ text, key }),
  artifact: ({ name, version, mediaType, hash }) => ({ name, version, mediaType, hash }),
  error: ({ error, phase }) => ({ error: failure(error), phase }),
  cancel: ({ reason }) => ({ reason }),
  plan: ({ revision, goal, subtasks, diff, cancels }) => ({
    revision,
    goal,
    subtasks,
    diff,
    cancels,
  }),
  plan_update: ({ revision, subtask, key, status, error }) => ({
    revision,
    subtask,
    key,
    status,
    error: failure(error),
  }),
};

/** Returns the compared members of an event as JSON: with its type, and without missing members. */
export function comparableOf(event: EventDraft): JsonObject {
  const of = compared[event.type] as (event: EventDraft) => Readonly<Record<string, unknown>>;
  return { type: event.type, ...withoutMissing(of(event)) };
}

function withoutMissing(value: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([, part]) => part !== undefined && part !== false),
  ) as { [key: string]: JsonValue };
}

/** Returns the kind of divergence that a difference in an event of this type is. */
export function kindOf(type: EventType): DivergenceKind {
  switch (type) {
    case 'model_start':
      return 'prompt';
    case 'tool_attempt':
    case 'tool_call':
    case 'tool_yield':
      return 'arguments';
    case 'state_change':
    case 'memory':
      return 'state';
    case 'assistant':
    case 'thought':
    case 'tool_result':
    case 'artifact':
    case 'model_end':
      return 'outcome';
    default:
      return 'control_flow';
  }
}
