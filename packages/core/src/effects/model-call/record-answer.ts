import { isRelease } from '../../base/cancel-scope.ts';
import { AdjutantError } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { ModelAnswer } from '../../models/answer.ts';
import type { ModelError } from '../../models/errors.ts';
import { estimateTokens } from '../../models/measures/estimate.ts';
import { costOf } from '../../models/measures/price.ts';
import { joinedWrites } from '../writes.ts';
import { type EndDraft, orFailedHook, recordFailedHook } from './end-of-agent.ts';
import type { GivenAnswer } from './model-answer.ts';
import type { FailurePlan, ModelCallPorts, ModelCallRequest } from './ports.ts';

/** Circumstances of an answer: its call, and what it stands for. */
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
export async function recordGiven(
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

/** Records an answer and the end of its call in one append. */
export async function recordAnswer(
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

/** Returns the end of a call with an answer. */
export function answerEnd(
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

/** Number of characters of an answer. */
export function outputLength(answer: ModelAnswer): number {
  let length = 0;
  for (const { text } of [...answer.thoughts, ...answer.texts]) length += text.length;
  for (const { args } of answer.toolCalls) length += JSON.stringify(args).length;
  return length;
}

/** Rounds milliseconds to two decimals. */
export function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
