import { defined } from '../base/defined.ts';
import type { Event, EventOf, Usage } from './event.ts';
import { belongsTo } from './path.ts';
import { isSuccess, type ToolResultStatus } from './tool-result.ts';

/** One tool call of a run, for people and dashboards. */
export interface ToolCallRecord {
  readonly callId: string;
  readonly agent: string;
  readonly name: string;
  /**
   * The arguments as JSON, shortened to 200 characters; those of a person where they replaced the
   * model's.
   */
  readonly args: string;
  /** Milliseconds of all attempts, without the waits between them. */
  readonly durationMs: number;
  readonly success: boolean;
  /** Missing while the call has no result. */
  readonly resultStatus: ToolResultStatus | undefined;
  /** Characters of the result's JSON. */
  readonly resultSize: number;
  /** Tokens of the model call that asked for it. */
  readonly roundTokens: number;
  readonly attempts: number;
  /** Version of the tool that ran; missing when it has none. */
  readonly version?: string;
  /** Confidence in the result, when it was lowered. */
  readonly confidence?: number;
}

/** Usage and tool calls of a run, folded from its events. */
export interface RunReport {
  readonly usage: Usage;
  /** US dollars of the calls whose price is known; `undefined` when none is. */
  readonly cost: number | undefined;
  /** Model calls that were answered. */
  readonly rounds: number;
  /** Milliseconds from the run's first event to its last. */
  readonly durationMs: number;
  readonly toolCalls: readonly ToolCallRecord[];
}

const longestArgs = 200;

/**
 * Makes the report of a run.
 * @param resolve returns the value that a reference to a large value stands for
 */
export function runReport(
  events: readonly Event[],
  runId: string,
  resolve: (value: unknown) => unknown = (value) => value,
): RunReport {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const calls = new Map<string, CallSoFar>();
  /** Calls of an answer whose end is not read yet: an answer is one append, with its end last. */
  let asked: CallSoFar[] = [];
  const failedTokens = new Map<string, number>();
  let cost: number | undefined;
  let rounds = 0;
  let first: Event | undefined;
  let last: Event | undefined;
  for (const event of events) {
    if (!belongsTo(event.invocationId, runId)) continue;
    first ??= event;
    last = event;
    if (event.type === 'model_end') {
      addUsage(usage, event.usage);
      if (event.cost !== undefined) cost = (cost ?? 0) + event.cost;
      if (event.status === 'completed') rounds++;
      if (event.status === 'completed') {
        const tokens = tokensOf(event, failedTokens);
        for (const call of asked) call.roundTokens = tokens;
        asked = [];
      } else failedTokens.set(roundKey(event), tokensOf(event, failedTokens));
    } else if (event.type === 'tool_call') {
      const call: CallSoFar = {
        call: event,
        durationMs: 0,
        attempts: 0,
        roundTokens: 0,
        settled: undefined,
      };
      calls.set(event.callId, call);
      asked.push(call);
    } else if (event.type === 'tool_attempt') increment(calls.get(event.callId));
    else if (event.type === 'tool_result') addResult(calls.get(event.callId), event);
  }
  return {
    usage: withoutZeros(usage),
    cost,
    rounds,
    durationMs: (last?.at ?? 0) - (first?.at ?? 0),
    toolCalls: [...calls.values()].map((call) => callRecord(call, resolve)),
  };
}

interface CallSoFar {
  readonly call: EventOf<'tool_call'>;
  durationMs: number;
  attempts: number;
  roundTokens: number;
  settled: EventOf<'tool_result'> | undefined;
}

function callRecord(
  { call, durationMs, attempts, roundTokens, settled }: CallSoFar,
  resolve: (value: unknown) => unknown,
): ToolCallRecord {
  const result = settled?.result;
  return {
    callId: call.callId,
    agent: call.agent,
    name: call.name,
    args: shorten(JSON.stringify(resolve(settled?.editedArgs ?? call.args))),
    durationMs: Math.round(durationMs * 100) / 100,
    success: result !== undefined && isSuccess(result),
    resultStatus: result?.status,
    resultSize: result === undefined ? 0 : (JSON.stringify(resolve(result.content))?.length ?? 0),
    roundTokens,
    attempts,
    ...defined({ version: settled?.toolVersion, confidence: result?.confidence }),
  };
}

/** Tokens of a model call and of the attempts at it that failed before. */
function tokensOf(event: EventOf<'model_end'>, failedTokens: ReadonlyMap<string, number>): number {
  const before = failedTokens.size === 0 ? 0 : (failedTokens.get(roundKey(event)) ?? 0);
  return before + event.usage.inputTokens + event.usage.outputTokens;
}

function roundKey(event: { readonly invocationId?: string; readonly round: number }): string {
  return `${event.invocationId}#${event.round}`;
}

function addUsage(
  total: {
    inputTokens: number;
    outputTokens: number;
    cachedInputTokens: number;
    reasoningTokens: number;
  },
  usage: Usage,
): void {
  total.inputTokens += usage.inputTokens;
  total.outputTokens += usage.outputTokens;
  total.cachedInputTokens += usage.cachedInputTokens ?? 0;
  total.reasoningTokens += usage.reasoningTokens ?? 0;
}

function withoutZeros({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens,
}: Required<Omit<Usage, 'cacheWriteTokens'>>): Usage {
  return {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens > 0 ? { cachedInputTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  };
}

function increment(call: { attempts: number } | undefined): void {
  if (call !== undefined) call.attempts++;
}

function addResult(call: CallSoFar | undefined, event: EventOf<'tool_result'>): void {
  if (call === undefined) return;
  call.durationMs += event.durationMs;
  if (event.settled) call.settled ??= event;
}

function shorten(text: string): string {
  return text.length <= longestArgs ? text : `${text.slice(0, longestArgs - 1)}…`;
}
