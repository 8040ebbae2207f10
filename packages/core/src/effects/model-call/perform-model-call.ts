import { AbortReason, CancelScope, isRelease } from '../../base/cancel-scope.ts';
import { AdjutantError, isAdjutantError } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import { retryDelay } from '../../base/retry-options.ts';
import { type DecisionDraft, decision, failingContent } from '../../ledger/decisions/decision.ts';
import type { EventDraft, TransientEvent, Usage } from '../../ledger/event.ts';
import type { DeltaSink, ModelAnswer } from '../../models/answer.ts';
import { type AnswerProblem, answerProblem } from '../../models/answer-problem.ts';
import { callModel } from '../../models/call.ts';
import { classifyModelError } from '../../models/classify.ts';
import { ModelError } from '../../models/errors.ts';
import { estimateTokens } from '../../models/measures/estimate.ts';
import { costOf } from '../../models/measures/price.ts';
import { modelName } from '../../models/model.ts';
import { toModelError } from '../../models/model-error.ts';
import { forbiddenModel } from '../../models/real-models.ts';
import { retryOf } from '../../models/retry.ts';
import { joinedWrites, noWrites } from '../writes.ts';
import type { GivenAnswer } from './model-answer.ts';
import type { FailurePlan, ModelCallPorts, ModelCallRequest } from './ports.ts';
import { recordedAnswer } from './recorded-answer.ts';

const defaultTimeoutMs = 60_000;
/**
 * Attempts of a call that runs out of time. It is made again only once, because the provider has
 * done the work and charged for it.
 */
const timeoutAttempts = 2;

const nothingSaid: ModelAnswer = {
  thoughts: [],
  texts: [],
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  finishReason: undefined,
  firstPartAt: undefined,
};

/**
 * Makes a model call and records it. The start is recorded at once, the answer in one append
 * together with the end. Once the run is released, nothing more is recorded: the process that
 * continues the run closes the call.
 */
export async function performModelCall(
  request: ModelCallRequest,
  ports: ModelCallPorts,
): Promise<void> {
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
      ...(request.mostCost === undefined ? {} : { mostCost: request.mostCost }),
    },
  ]);
  const replayed =
    request.given === undefined
      ? ledger.ports.tape?.modelEnded({
          path,
          round,
          attempt,
          landing: (events) => ports.landing?.(events),
        })
      : undefined;
  if (replayed !== undefined) {
    const outcome = await replayed;
    if ('raw' in outcome)
      await recordAnswer(request, ports, recordedAnswer(outcome.raw, ledger.resolve), {
        startedAt: clock.monotonic(),
      });
    return;
  }
  if (attempt > 1) ports.emit?.({ type: 'stream_reset', invocationId: path, agent });
  const startedAt = clock.monotonic();
  const given =
    request.given ??
    (ports.beforeCall === undefined
      ? undefined
      : await orFailedHook(ports.beforeCall(request.options)));
  if (given instanceof AdjutantError)
    return recordFailedHook(ports, answerEnd(request, ports, nothingSaid, { startedAt }), given);
  if (given !== undefined) return recordGiven(request, ports, given, { startedAt });
  const forbidden = ports.standIn === undefined ? forbiddenModel(model) : undefined;
  if (forbidden !== undefined)
    return recordForbidden(ports, answerEnd(request, ports, nothingSaid, { startedAt }), forbidden);
  const called = await (ports.around === undefined
    ? call(request, ports)
    : ports.around(request, () => call(request, ports)));
  if ('answer' in called) await recordAnswer(request, ports, called.answer, { startedAt });
  else await recordFailure(request, ports, called, startedAt);
}

interface FailedAnswer {
  readonly error: unknown;
  readonly reason: AbortReason | undefined;
  /** Usage that the provider charged, when it reported any. */
  readonly usage?: Usage | undefined;
  readonly isEmpty?: boolean;
  /** Incomplete answer that is still good enough to be given. */
  readonly usable?: ModelAnswer | undefined;
}

type Called = { readonly answer: ModelAnswer } | FailedAnswer;

/** Asks the model. An exception and an answer without content are both failures. */
async function call(request: ModelCallRequest, ports: ModelCallPorts): Promise<Called> {
  const { model } = request;
  const { clock } = ports;
  const scope = new CancelScope(ports.scope);
  const cutOff = (): void =>
    scope.abort(
      new AbortReason('interrupted', 'A message came that the model is to have at once.'),
    );
  ports.interruptions.add(cutOff);
  const cancelTimer = clock.setTimer(model.settings.timeout ?? defaultTimeoutMs, () =>
    scope.abort(
      new AbortReason(
        'timeout',
        `The model did not answer within ${model.settings.timeout ?? defaultTimeoutMs} ms.`,
      ),
    ),
  );
  try {
    const loaded = ports.standIn?.(request) ?? (await model.load());
    const answer = await callModel(
      ports.wrap === undefined ? loaded : ports.wrap(loaded),
      { ...request.options, abortSignal: scope.signal },
      clock,
      ports.emit === undefined ? undefined : deltaSink(request, ports.emit),
    );
    const problem = answerProblem(answer);
    return problem === undefined ? { answer } : failedAnswer(request, answer, problem);
  } catch (error) {
    return { error, reason: scope.reason };
  } finally {
    cancelTimer();
    ports.interruptions.delete(cutOff);
    scope.close();
  }
}

function deltaSink(
  { path, agent }: ModelCallRequest,
  emit: (event: TransientEvent) => void,
): DeltaSink {
  return {
    text: (delta) => emit({ type: 'assistant_delta', invocationId: path, agent, delta }),
    thought: (delta) => emit({ type: 'thought_delta', invocationId: path, agent, delta }),
    toolArgs: (providerCallId, name, delta) =>
      emit({ type: 'tool_args_delta', invocationId: path, agent, providerCallId, name, delta }),
  };
}

/** Turns a problem of an answer into a failure of the call. */
function failedAnswer(
  { model, final }: ModelCallRequest,
  answer: ModelAnswer,
  { kind, retryable, detail, usable }: AnswerProblem,
): Called {
  const isEmpty = kind === 'malformed';
  // A model that may only answer has said all that it will say.
  if (final && (isEmpty || kind === 'output_limit')) return { answer };
  const error = new ModelError({ kind, retryable, model: modelName(model), detail });
  return {
    error,
    reason: undefined,
    usage: answer.usage,
    isEmpty,
    usable: usable ? answer : undefined,
  };
}

interface Recorded {
  readonly startedAt: number;
  readonly given?: GivenAnswer;
  /** Error for which the model itself gave no answer. */
  readonly error?: ModelError | undefined;
  /** Decision about that error. */
  readonly plan?: FailurePlan;
  /** Usage and estimate of the failed call, which is charged all the same. */
  readonly charged?: Pick<EndDraft, 'usage' | 'estimated'>;
}

/** Records an answer that replaces the model's. Listeners get its text like any other. */
async function recordGiven(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  given: GivenAnswer,
  recorded: Omit<Recorded, 'given'>,
): Promise<void> {
  for (const { text } of given.answer.texts)
    if (text !== '')
      ports.emit?.({
        type: 'assistant_delta',
        invocationId: request.path,
        agent: request.agent,
        delta: text,
      });
  await recordAnswer(request, ports, given.answer, { ...recorded, given });
}

async function recordAnswer(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  given: ModelAnswer,
  recorded: Recorded,
): Promise<void> {
  const processing = ports.process?.(given, recorded.given?.substitutedBy);
  const processed = processing instanceof Promise ? await orFailedHook(processing) : processing;
  if (processed instanceof AdjutantError)
    return recordFailedHook(ports, answerEnd(request, ports, given, recorded), processed);
  // A run that was released meanwhile does not use the answer: the process that continues it asks
  // again.
  if (ports.ledger.failure !== undefined || isRelease(ports.scope.reason)) return;
  const answer = processed?.answer ?? given;
  const { path, agent, round } = request;
  const by = 'model' as const;
  const { decisions = [], writes } = recorded.plan ?? {};
  const { drafts: before, extras } = joinedWrites([
    writes,
    processed && { drafts: processed.before, extras: processed.extras },
  ]);
  const drafts: EventDraft[] = [...before, ...decisions];
  for (const { text, providerMetadata } of answer.thoughts) {
    drafts.push({
      type: 'thought',
      by,
      invocationId: path,
      agent,
      round,
      text,
      ...(providerMetadata === undefined ? {} : { providerMetadata }),
    });
  }
  drafts.push(...textDrafts(request, answer, processed?.parsed));
  if (!request.final)
    drafts.push(...answer.toolCalls.map((call, index) => callDraft(request, call, index)));
  drafts.push(
    ...(processed?.decisions ?? []),
    ...(recorded.given === undefined ? [] : givenDecisions(request, recorded.given)),
  );
  drafts.push(answerEnd(request, ports, answer, recorded));
  ports.ledger.append(drafts, extras);
}

function textDrafts(
  { path, agent, round }: ModelCallRequest,
  answer: ModelAnswer,
  parsed: JsonValue | undefined,
): EventDraft[] {
  const texts = answer.texts.filter(
    ({ text, providerMetadata }) => text !== '' || providerMetadata !== undefined,
  );
  return texts.map(({ text, providerMetadata }, index) => ({
    type: 'assistant',
    by: 'model',
    invocationId: path,
    agent,
    round,
    text,
    ...(parsed === undefined || index < texts.length - 1 ? {} : { output: parsed }),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  }));
}

type EndDraft = Extract<EventDraft, { type: 'model_end' }>;

/** Returns the decision for another round, after a replacing answer that is not the end. */
function givenDecisions(
  { path }: ModelCallRequest,
  { substitutedBy, terminal }: GivenAnswer,
): EventDraft[] {
  if (terminal) return [];
  return [
    decision('hooks', 'continue', {
      invocationId: path,
      reasoning:
        `${substitutedBy} answered in the place of the model, and wants the model to be ` +
        'asked again.',
    }),
  ];
}

function answerEnd(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  answer: ModelAnswer,
  { startedAt, given, error, charged }: Recorded,
): EndDraft {
  const now = ports.clock.monotonic();
  const estimated = {
    inputTokens: estimateTokens(request.characters),
    outputTokens: estimateTokens(outputLength(answer)),
  };
  const usage = charged?.usage ?? answer.usage ?? estimated;
  const isEstimated =
    charged === undefined ? answer.usage === undefined : charged.estimated === true;
  const cost = costOf(request.model, usage, ports.prices);
  return {
    type: 'model_end',
    by: 'runtime',
    invocationId: request.path,
    round: request.round,
    attempt: request.attempt,
    status: 'completed',
    usage,
    ...(isEstimated ? { estimated: true as const } : {}),
    ...(cost === undefined ? {} : { cost }),
    durationMs: rounded(now - startedAt),
    ...(answer.firstPartAt === undefined
      ? {}
      : { timeToFirstTokenMs: rounded(answer.firstPartAt - startedAt) }),
    ...(answer.finishReason === undefined ? {} : { finishReason: answer.finishReason }),
    ...(given === undefined ? {} : { substitutedBy: given.substitutedBy }),
    ...(error === undefined ? {} : { error: error.toJSON() }),
  };
}

function callDraft(
  { path, agent, round, toolName }: ModelCallRequest,
  call: ModelAnswer['toolCalls'][number],
  index: number,
): EventDraft {
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

async function recordFailure(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  { error, reason, usage, isEmpty = false, usable }: FailedAnswer,
  startedAt: number,
): Promise<void> {
  const { ledger, clock } = ports;
  const isLost = (): boolean =>
    ledger.failure !== undefined || isRelease(reason) || isRelease(ports.scope.reason);
  if (isLost()) return;
  const interrupted = reason?.code === 'interrupted';
  const cancelled = interrupted || (reason !== undefined && ports.scope.aborted);
  const modelError = toModelError(reason ?? error, modelName(request.model));
  const ended = {
    type: 'model_end' as const,
    by: 'runtime' as const,
    invocationId: request.path,
    round: request.round,
    attempt: request.attempt,
    usage: usage ?? failedUsage(modelError, estimateTokens(request.characters)),
    ...(usage === undefined ? { estimated: true as const } : {}),
    ...costMember(usage === undefined ? undefined : costOf(request.model, usage, ports.prices)),
    durationMs: rounded(clock.monotonic() - startedAt),
    error: modelError.toJSON(),
  };
  if (cancelled)
    return void ledger.append([
      { ...ended, status: 'cancelled', ...(interrupted ? { retryAfterMs: 0 } : {}) },
    ]);
  const ownDelay = nextDelay(request, ports.random, reason ?? error);
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
  const { retryAfterMs } = plan;
  if (retryAfterMs === undefined && usable !== undefined && plan.decisions.length === 0)
    return recordAnswer(request, ports, usable, { startedAt, plan });
  const { drafts, extras } = plan.writes ?? noWrites;
  ledger.append(
    [
      ...drafts,
      { ...ended, status: 'error', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
      ...plan.decisions,
    ],
    extras,
  );
}

/** Returns the awaited value, or the error of a hook that failed. */
async function orFailedHook<Value>(asked: Promise<Value>): Promise<Value | AdjutantError> {
  try {
    return await asked;
  } catch (thrown) {
    if (!isAdjutantError(thrown, 'hook_failed')) throw thrown;
    return thrown as AdjutantError;
  }
}

/**
 * Records the call of a forbidden model and ends the agent. Nothing is tried instead, because
 * nothing may hide the call.
 */
function recordForbidden(ports: ModelCallPorts, end: EndDraft, thrown: AdjutantError): void {
  const why = decision('models', 'forbidden', failingContent(end.invocationId, thrown));
  recordEndOfAgent(ports, { ...end, usage: { inputTokens: 0, outputTokens: 0 } }, thrown, why);
}

/** Records a hook that threw, and ends the agent. The call was made, and counts as paid. */
function recordFailedHook(ports: ModelCallPorts, end: EndDraft, thrown: AdjutantError): void {
  const why = decision('hooks', 'failed', failingContent(end.invocationId, thrown));
  recordEndOfAgent(ports, end, thrown, why);
}

function recordEndOfAgent(
  ports: ModelCallPorts,
  end: EndDraft,
  thrown: AdjutantError,
  why: DecisionDraft,
): void {
  if (ports.ledger.failure !== undefined || isRelease(ports.scope.reason)) return;
  ports.ledger.append([{ ...end, status: 'error', error: thrown.toJSON() }, why]);
}

function costMember(cost: number | undefined): { readonly cost?: number } {
  return cost === undefined ? {} : { cost };
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

function nextDelay(request: ModelCallRequest, random: Random, error: unknown): number | undefined {
  const { kind, retryable, retryAfterMs } = classifyModelError(error);
  const retry = retryOf(request.model.settings);
  const attemptsMade = request.errorsBefore + 1;
  const attempts = kind === 'timeout' ? Math.min(retry.attempts, timeoutAttempts) : retry.attempts;
  if (!retryable || attemptsMade >= attempts) return undefined;
  return retryAfterMs ?? retryDelay(retry, attemptsMade, () => random.next());
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
