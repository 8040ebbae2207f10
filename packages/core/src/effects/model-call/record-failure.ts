import { isRelease } from '../../base/cancel-scope.ts';
import { defined } from '../../base/defined.ts';
import { AdjutantError } from '../../base/error.ts';
import { retryDelay } from '../../base/retry-options.ts';
import type { Usage } from '../../ledger/event.ts';
import type { ModelAnswer } from '../../models/answer.ts';
import { classifyModelError } from '../../models/classify.ts';
import type { ModelError } from '../../models/errors.ts';
import { estimateTokens } from '../../models/measures/estimate.ts';
import { costOf } from '../../models/measures/price.ts';
import { modelName } from '../../models/model.ts';
import { toModelError } from '../../models/model-error.ts';
import { retryOf } from '../../models/retry.ts';
import { noWrites } from '../writes.ts';
import type { FailedAnswer } from './ask-model.ts';
import { type EndDraft, orFailedHook, recordFailedHook } from './end-of-agent.ts';
import type { FailurePlan, ModelCallPorts, ModelCallRequest } from './ports.ts';
import { outputLength, recordAnswer, recordGiven, rounded } from './record-answer.ts';
import { recordCut } from './record-cut.ts';

/**
 * Attempts of a call that runs out of time. It is made again only once, because the provider has
 * done the work and charged for it.
 */
const timeoutAttempts = 2;

/**
 * Records a failed call and the decision about it: another attempt, a given answer, or none.
 */
export async function recordFailure(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  { error, reason, usage, isEmpty = false, usable, partial }: FailedAnswer,
  startedAt: number,
): Promise<void> {
  const { ledger } = ports;
  const isLost = (): boolean =>
    ledger.failure !== undefined || isRelease(reason) || isRelease(ports.scope.reason);
  if (isLost()) return;
  const interrupted = reason?.code === 'interrupted';
  const cancelled = reason !== undefined && ports.scope.aborted;
  const modelError = toModelError(reason ?? error, modelName(request.model), ports.clock.now());
  const ended = failedEnd(request, ports, { error: modelError, usage, startedAt });
  if (interrupted) {
    const cut = { ...ended, ...cutUse(request, ports, partial, startedAt), retryAfterMs: 0 };
    return recordCut(request, ports, partial, { ...cut, status: 'cancelled' });
  }
  if (cancelled) return void ledger.append([{ ...ended, status: 'cancelled' }]);
  const ownDelay = nextDelay(request, ports, reason ?? error);
  const planning = ports.plan({
    error: modelError,
    attempts: request.errorsBefore + 1,
    retryAfterMs: ownDelay,
    isEmpty,
    isUsable: usable !== undefined,
  });
  const plan = planning instanceof Promise ? await orFailedHook(planning) : planning;
  if (isLost()) return;
  if (plan instanceof AdjutantError)
    return recordFailedHook(ports, { ...ended, status: 'error' }, plan);
  if (plan.given !== undefined)
    return recordGiven(request, ports, plan.given, {
      startedAt,
      error: modelError,
      plan,
      charged: ended,
    });
  if (plan.retryAfterMs === undefined && usable !== undefined && plan.decisions.length === 0)
    return recordAnswer(request, ports, usable, { startedAt, plan });
  appendFailure(ports, ended, plan);
}

/** Returns the use of a call that was cut off, as far as its answer had come. */
function cutUse(
  { characters, model }: ModelCallRequest,
  { prices }: ModelCallPorts,
  partial: ModelAnswer | undefined,
  startedAt: number,
): Partial<FailedEnd> {
  if (partial === undefined) return {};
  const { firstPartAt, usage: reported } = partial;
  const usage = reported ?? {
    inputTokens: estimateTokens(characters),
    outputTokens: estimateTokens(outputLength(partial)),
  };
  return defined({
    usage,
    cost: costOf(model, usage, prices),
    timeToFirstTokenMs: firstPartAt === undefined ? undefined : rounded(firstPartAt - startedAt),
  });
}

/** Appends the end of a failed call with the decision about it and the writes of its hooks. */
function appendFailure(
  { ledger }: ModelCallPorts,
  ended: FailedEnd,
  { decisions, retryAfterMs, writes = noWrites }: FailurePlan,
): void {
  const { drafts, extras } = writes;
  const end = defined({ ...ended, status: 'error' as const, retryAfterMs });
  ledger.append([...drafts, end, ...decisions], extras);
}

type FailedEnd = Omit<EndDraft, 'status'>;

/** Returns the end of a call without an answer; its status is still to be decided. */
function failedEnd(
  request: ModelCallRequest,
  { clock, prices }: ModelCallPorts,
  failed: {
    readonly error: ModelError;
    readonly usage: Usage | undefined;
    readonly startedAt: number;
  },
): FailedEnd {
  const { error, startedAt, usage } = failed;
  const { attempt, characters, model, path, round } = request;
  return {
    type: 'model_end',
    by: 'runtime',
    invocationId: path,
    round,
    attempt,
    usage: usage ?? failedUsage(error, estimateTokens(characters)),
    ...(usage === undefined ? { estimated: true as const } : {}),
    ...costMember(usage === undefined ? undefined : costOf(model, usage, prices)),
    durationMs: rounded(clock.monotonic() - startedAt),
    error: error.toJSON(),
  };
}

function costMember(cost: number | undefined): { readonly cost?: number } {
  return defined({ cost });
}

/**
 * Usage of a failed call. A call that was refused or never reached the provider has used nothing. A
 * call that was cut off may have used its input.
 */
function failedUsage(error: ModelError, estimatedInputTokens: number): Usage {
  const reached =
    error.code === 'model_timeout' ||
    error.code === 'model_malformed' ||
    error.code === 'model_aborted';
  return { inputTokens: reached ? estimatedInputTokens : 0, outputTokens: 0 };
}

function nextDelay(
  request: ModelCallRequest,
  { clock, random, defaults }: ModelCallPorts,
  error: unknown,
): number | undefined {
  const { kind, retryable, retryAfterMs } = classifyModelError(error, clock.now());
  const retry = retryOf(request.model.settings, defaults.modelRetry);
  const attemptsMade = request.errorsBefore + 1;
  const attempts = kind === 'timeout' ? Math.min(retry.attempts, timeoutAttempts) : retry.attempts;
  if (!retryable || attemptsMade >= attempts) return undefined;
  return retryAfterMs ?? retryDelay(retry, attemptsMade, () => random.next());
}
