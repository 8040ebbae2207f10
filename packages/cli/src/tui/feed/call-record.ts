import type { EventOf, JsonValue, ToolResult } from 'adjutant';

/** A request that waits for an answer. */
export interface OpenRequest {
  readonly requestId: string;
  readonly callId: string;
  /** True for a question of a step, which is about no call. */
  readonly isQuestion: boolean;
  readonly kind: EventOf<'tool_yield'>['kind'];
  readonly name: string;
  readonly args: JsonValue;
  readonly details: EventOf<'tool_yield'>['request'];
  readonly seq: number;
  readonly askedAt: number;
  /** Time at which the call began that it is about. */
  readonly begunAt?: number | undefined;
  readonly expiresAt: number | undefined;
}

/** A request that was answered, while its round goes on. */
export interface SettledRequest {
  readonly request: OpenRequest;
  readonly decision: string;
  readonly by: string;
}

/** Answer of a person to the request about a call. */
export interface CallAnswer {
  readonly decision: string;
  readonly by: string;
  readonly reason: string | undefined;
  readonly waitedMs: number;
}

/** A call of a tool, as far as the ledger tells of it. */
export interface CallRecord {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly round: number;
  /** Number of the call's event, then that of its result. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly state: 'begun' | 'running' | 'asks' | 'retries' | 'settled';
  readonly result?: ToolResult;
  readonly durationMs?: number;
  readonly answer?: CallAnswer;
  readonly retry?: { readonly errorType: string; readonly attempt: number; readonly at: number };
  /** Last lines that the tool streamed while it ran. */
  readonly progress: readonly string[];
}

const keptProgress = 3;

export function begunCall(event: EventOf<'tool_call'>): CallRecord {
  const { callId, name, args, round, seq, at } = event;
  return { callId, name, args, round, seq, startedAt: at, state: 'begun', progress: [] };
}

export function attemptedCall(call: CallRecord, { at }: EventOf<'tool_attempt'>): CallRecord {
  const { retry: _, ...rest } = call;
  return { ...rest, state: 'running', startedAt: at, progress: [] };
}

/** The call with what its tool streamed. */
export function progressedCall(call: CallRecord, data: JsonValue): CallRecord {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { ...call, progress: [...call.progress, ...lines].slice(-keptProgress) };
}

export function answeredCall(
  call: CallRecord,
  event: EventOf<'tool_input'>,
  request: OpenRequest | undefined,
): CallRecord {
  const { decision = 'answer', by, reason, input, answeredAt, at } = event;
  const waitedMs = (answeredAt ?? at) - (request?.askedAt ?? at);
  const args = decision === 'edit' && input !== undefined ? input : call.args;
  return {
    ...call,
    args,
    state: 'running',
    startedAt: at,
    answer: { decision, by, reason, waitedMs },
  };
}

export function failedAttempt(call: CallRecord, event: EventOf<'tool_result'>): CallRecord {
  const { result, attempt, at, retryAfterMs = 0 } = event;
  const errorType = result.errorType ?? result.status;
  return {
    ...call,
    state: 'retries',
    retry: { errorType, attempt: attempt + 1, at: at + retryAfterMs },
  };
}

export function settledCall(call: CallRecord, event: EventOf<'tool_result'>): CallRecord {
  const { retry: _, ...rest } = call;
  const { result, durationMs, seq } = event;
  return { ...rest, state: 'settled', seq, result, durationMs, progress: [] };
}
