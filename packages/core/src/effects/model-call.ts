import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { AbortReason, CancelScope, givesBack } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { EventDraft, EventOf, TransientEvent, Usage } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PromptRecipe } from '../ledger/prompt-recipe.ts';
import { callModel, type DeltaSink, type ModelAnswer } from '../models/call.ts';
import { classifyModelError } from '../models/classify.ts';
import { ModelError } from '../models/errors.ts';
import { estimateTokens } from '../models/estimate.ts';
import { type Model, modelName, type Price } from '../models/model.ts';
import { toModelError } from '../models/model-error.ts';
import { costOf } from '../models/price.ts';
import { resolveRetry, retryDelay } from '../models/retry.ts';

const defaultTimeoutMs = 60_000;
/** A call that ran out of time is tried again once: the provider has done, and charged for, the work. */
const timeoutAttempts = 2;

/** One model call of an agent, ready to be made. */
export interface ModelCallRequest {
  readonly path: string;
  readonly agent: string;
  readonly model: Model;
  readonly round: number;
  readonly attempt: number;
  /** Attempts of this round that failed before. */
  readonly errorsBefore: number;
  readonly options: LanguageModelV4CallOptions;
  readonly recipe: PromptRecipe;
  /** Characters of the prompt. */
  readonly characters: number;
  /** The answer is to be given without tools: calls in it are dropped. */
  readonly final: boolean;
  /** The name of a tool for the name that the model was given. */
  readonly toolName: (wireName: string) => string;
}

export interface ModelCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly scope: CancelScope;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  /** Missing when nobody listens. */
  readonly emit: ((event: TransientEvent) => void) | undefined;
  /** What cuts off the calls that are under way, so that they are made again with what has come in. */
  readonly interruptions: Set<() => void>;
}

/**
 * Makes a model call and records it: its start at once, its answer in one append together with its end.
 * When the process gives the run back, nothing more is recorded: whoever continues closes the call.
 */
export async function performModelCall(request: ModelCallRequest, ports: ModelCallPorts): Promise<void> {
  const { path, agent, round, attempt, model, recipe } = request;
  const { ledger, clock } = ports;
  const estimatedInputTokens = estimateTokens(request.characters);
  const maxOutputTokens = request.options.maxOutputTokens;
  ledger.append([
    {
      type: 'model_start',
      by: 'runtime',
      invocationId: path,
      agent,
      round,
      attempt,
      model: modelName(model),
      recipe,
      estimatedInputTokens,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    },
  ]);
  if (attempt > 1) ports.emit?.({ type: 'stream_reset', invocationId: path, agent });
  const startedAt = clock.monotonic();
  const scope = new CancelScope(ports.scope);
  const cutOff = (): void => scope.abort(new AbortReason('interrupted', 'A message came that the model is to have at once.'));
  ports.interruptions.add(cutOff);
  const cancelTimer = clock.setTimer(model.settings.timeout ?? defaultTimeoutMs, () =>
    scope.abort(new AbortReason('timeout', `The model did not answer within ${model.settings.timeout ?? defaultTimeoutMs} ms.`)),
  );
  try {
    const loaded = await loadModel(model);
    const answer = await callModel(
      loaded,
      { ...request.options, abortSignal: scope.signal },
      clock,
      ports.emit === undefined ? undefined : deltaSink(request, ports.emit),
    );
    if (isEmpty(answer)) recordFailure(request, ports, emptyAnswer(model, answer), undefined, startedAt, answer.usage);
    else recordAnswer(request, ports, answer, startedAt, estimatedInputTokens);
  } catch (error) {
    recordFailure(request, ports, error, scope.reason, startedAt, undefined);
  } finally {
    cancelTimer();
    ports.interruptions.delete(cutOff);
    scope.close();
  }
}

function loadModel(model: Model): LanguageModelV4 | Promise<LanguageModelV4> {
  return model.load();
}

function deltaSink({ path, agent }: ModelCallRequest, emit: (event: TransientEvent) => void): DeltaSink {
  return {
    text: (delta) => emit({ type: 'assistant_delta', invocationId: path, agent, delta }),
    thought: (delta) => emit({ type: 'thought_delta', invocationId: path, agent, delta }),
    toolArgs: (providerCallId, name, delta) => emit({ type: 'tool_args_delta', invocationId: path, agent, providerCallId, name, delta }),
  };
}

function isEmpty(answer: ModelAnswer): boolean {
  return answer.toolCalls.length === 0 && answer.texts.every(({ text }) => text.trim() === '');
}

function emptyAnswer(model: Model, answer: ModelAnswer): ModelError {
  const filtered = answer.finishReason === 'content-filter';
  return new ModelError({
    kind: filtered ? 'content_filter' : 'malformed',
    retryable: !filtered,
    model: modelName(model),
    detail: filtered ? 'the answer was withheld' : `the answer was empty (finish reason: ${answer.finishReason ?? 'none'})`,
  });
}

function recordAnswer(request: ModelCallRequest, ports: ModelCallPorts, answer: ModelAnswer, startedAt: number, estimatedInputTokens: number): void {
  const { path, agent, round } = request;
  const by = 'model' as const;
  const drafts: EventDraft[] = [];
  for (const { text, providerMetadata } of answer.thoughts) {
    drafts.push({ type: 'thought', by, invocationId: path, agent, round, text, ...(providerMetadata === undefined ? {} : { providerMetadata }) });
  }
  for (const { text, providerMetadata } of answer.texts) {
    if (text === '' && providerMetadata === undefined) continue;
    drafts.push({ type: 'assistant', by, invocationId: path, agent, round, text, ...(providerMetadata === undefined ? {} : { providerMetadata }) });
  }
  if (!request.final) drafts.push(...answer.toolCalls.map((call, index) => callDraft(request, call, index)));
  const now = ports.clock.monotonic();
  const usage = answer.usage ?? { inputTokens: estimatedInputTokens, outputTokens: estimateTokens(outputLength(answer)) };
  const cost = costOf(request.model, usage, ports.prices);
  drafts.push({
    type: 'model_end',
    by: 'runtime',
    invocationId: path,
    round,
    attempt: request.attempt,
    status: 'completed',
    usage,
    ...(answer.usage === undefined ? { estimated: true as const } : {}),
    ...(cost === undefined ? {} : { cost }),
    durationMs: rounded(now - startedAt),
    ...(answer.firstPartAt === undefined ? {} : { timeToFirstTokenMs: rounded(answer.firstPartAt - startedAt) }),
    ...(answer.finishReason === undefined ? {} : { finishReason: answer.finishReason }),
  });
  ports.ledger.append(drafts);
}

function callDraft({ path, agent, round, toolName }: ModelCallRequest, call: ModelAnswer['toolCalls'][number], index: number): EventDraft {
  return {
    type: 'tool_call',
    by: 'model',
    invocationId: path,
    callId: `${path}/r${round}.${index}`,
    agent,
    name: toolName(call.name),
    args: call.args,
    providerCallId: call.providerCallId,
    round,
    index,
    ...(call.invalid === undefined ? {} : { invalid: call.invalid }),
    ...(call.providerMetadata === undefined ? {} : { providerMetadata: call.providerMetadata }),
  };
}

function outputLength(answer: ModelAnswer): number {
  let length = 0;
  for (const { text } of [...answer.thoughts, ...answer.texts]) length += text.length;
  for (const { args } of answer.toolCalls) length += JSON.stringify(args).length;
  return length;
}

function recordFailure(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  error: unknown,
  reason: AbortReason | undefined,
  startedAt: number,
  /** What the provider charged, when it said so. */
  usage: Usage | undefined,
): void {
  const { ledger, clock } = ports;
  if (ledger.failure !== undefined || givesBack(reason)) return;
  const interrupted = reason?.code === 'interrupted';
  const cancelled = interrupted || (reason !== undefined && ports.scope.aborted);
  const modelError = toModelError(reason ?? error, modelName(request.model));
  const retryAfterMs = interrupted ? 0 : cancelled ? undefined : nextDelay(request, ports.random, reason ?? error);
  const cost = usage === undefined ? undefined : costOf(request.model, usage, ports.prices);
  const end: Omit<EventOf<'model_end'>, 'v' | 'seq' | 'id' | 'at'> = {
    type: 'model_end',
    by: 'runtime',
    invocationId: request.path,
    round: request.round,
    attempt: request.attempt,
    status: cancelled ? 'cancelled' : 'error',
    usage: usage ?? failedUsage(modelError, estimateTokens(request.characters)),
    ...(usage === undefined ? { estimated: true as const } : {}),
    ...(cost === undefined ? {} : { cost }),
    durationMs: rounded(clock.monotonic() - startedAt),
    error: modelError.toJSON(),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  ledger.append([end]);
}

/** A call that was refused or never reached the provider has used nothing; one that was cut off may have used its input. */
function failedUsage(error: ModelError, estimatedInputTokens: number): Usage {
  const reached = error.code === 'model_timeout' || error.code === 'model_malformed' || error.code === 'model_aborted';
  return { inputTokens: reached ? estimatedInputTokens : 0, outputTokens: 0 };
}

function nextDelay(request: ModelCallRequest, random: Random, error: unknown): number | undefined {
  const { kind, retryable, retryAfterMs } = classifyModelError(error);
  const retry = resolveRetry(request.model.settings);
  const attemptsMade = request.errorsBefore + 1;
  const attempts = kind === 'timeout' ? Math.min(retry.maxAttempts, timeoutAttempts) : retry.maxAttempts;
  if (!retryable || attemptsMade >= attempts) return undefined;
  return retryDelay(retry, attemptsMade, random, retryAfterMs);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
