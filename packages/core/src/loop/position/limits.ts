import type { EventOf, ModelEndEvent, StopReason } from '../../ledger/event.ts';
import type { LimitState } from '../../supervision/limits.ts';

/** Last request about a limit of the agent. */
export interface LimitRequest {
  readonly request: EventOf<'tool_yield'>;
  answer: EventOf<'tool_input'> | undefined;
}

/** Use of the agent's own limits, and requests to exceed them. */
export interface LimitsState {
  tokens: number;
  cost: number;
  /** Number of failed attempts of tools and of model calls. */
  errors: number;
  /** Limits that a warning was recorded for. */
  readonly warned: Set<StopReason>;
  /** Last request that was made at a limit. */
  lastRequest: LimitRequest | undefined;
  /** Number of requests about limits. */
  requests: number;
  /** Amounts that people granted beyond the limits, by reason. */
  readonly granted: Map<StopReason, number>;
}

export function startLimits(): LimitsState {
  return {
    tokens: 0,
    cost: 0,
    errors: 0,
    warned: new Set(),
    lastRequest: undefined,
    requests: 0,
    granted: new Map(),
  };
}

/** Folds the use of a model call. */
export function addUse(limits: LimitsState, { usage, cost, status }: ModelEndEvent): void {
  limits.tokens += usage.inputTokens + usage.outputTokens;
  limits.cost += cost ?? 0;
  if (status === 'error') limits.errors++;
}

/** Folds a request to exceed a limit. */
export function addLimitRequest(limits: LimitsState, request: EventOf<'tool_yield'>): void {
  limits.lastRequest = { request, answer: undefined };
  limits.requests = request.generation;
}

/** Folds the answer to the last request about a limit. @returns false for any other answer */
export function answerLimitRequest(limits: LimitsState, event: EventOf<'tool_input'>): boolean {
  const { lastRequest } = limits;
  if (lastRequest?.request.requestId !== event.requestId) return false;
  lastRequest.answer = event;
  if (event.decision === 'continue') grant(limits, lastRequest.request, event);
  return true;
}

/**
 * Records a grant beyond a limit; without a number the amount of the limit itself is granted again.
 */
function grant(
  { granted }: LimitsState,
  { request }: EventOf<'tool_yield'>,
  { input }: EventOf<'tool_input'>,
): void {
  const { reason, limit, of } = request.details as unknown as LimitState;
  if (of === 'run') return;
  const more = typeof input === 'number' ? input : limit;
  granted.set(reason, (granted.get(reason) ?? 0) + more);
}

/** Removes a withdrawn request as if it had never been made. */
export function withdrawFromLimits(limits: LimitsState, requestId: string): void {
  if (limits.lastRequest?.request.requestId === requestId) limits.lastRequest = undefined;
}
