import type { Attributes } from '@opentelemetry/api';
import type { EventOf, Usage } from '../ledger/event.ts';
import type {
  InvocationOperation,
  ModelOperation,
  RunOperation,
  ToolOperation,
} from '../runnables/operation.ts';

/** The version of the conventions that names are taken from. */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.41.0';

/** Names of providers in the conventions, by how the names of ours and of the AI SDK begin. */
const providers: readonly (readonly [RegExp, string])[] = [
  [/^(claude|anthropic)\b/, 'anthropic'],
  [/^google[.-]vertex/, 'gcp.vertex_ai'],
  [/^(gemini|google)\b/, 'gcp.gemini'],
  [/^azure/, 'azure.ai.openai'],
  [/^openai($|\.)/, 'openai'],
  [/^amazon-bedrock/, 'aws.bedrock'],
  [/^mistral/, 'mistral_ai'],
  [/^xai\b/, 'x_ai'],
  [/^(cohere|deepseek|groq|perplexity)\b/, '$1'],
];

/** The provider by its name in the conventions; one that they do not know by its own. */
export function providerName(provider: string): string {
  for (const [pattern, name] of providers) {
    const match = pattern.exec(provider);
    if (match !== null) return name.startsWith('$') ? (match[1] ?? provider) : name;
  }
  return provider;
}

function placeIn({ session, runId }: RunOperation): Attributes {
  return { 'gen_ai.conversation.id': session, 'adjutant.run.id': runId };
}

export function runAttributes(run: RunOperation): Attributes {
  const { app, kind, name, continued, asked } = run;
  return {
    ...placeIn(run),
    'adjutant.app': app,
    'adjutant.runnable.kind': kind,
    'adjutant.runnable.name': name,
    'adjutant.run.continued': continued,
    'adjutant.run.asked': asked,
  };
}

/**
 * The name of an invocation's span, and what it begins with. Everything that is no agent counts as
 * a workflow.
 */
export function invocationStart({
  run,
  kind,
  name,
  version,
  invocationId,
  mode,
  continued,
}: InvocationOperation): {
  readonly name: string;
  readonly attributes: Attributes;
} {
  const isAgent = kind === 'agent';
  const operation = isAgent ? 'invoke_agent' : 'invoke_workflow';
  return {
    name: `${operation} ${name}`,
    attributes: {
      'gen_ai.operation.name': operation,
      [isAgent ? 'gen_ai.agent.name' : 'gen_ai.workflow.name']: name,
      ...(isAgent && version !== undefined ? { 'gen_ai.agent.version': version } : {}),
      ...placeIn(run),
      'adjutant.runnable.kind': kind,
      'adjutant.invocation.id': invocationId,
      'adjutant.invocation.mode': mode,
      'adjutant.invocation.continued': continued,
    },
  };
}

export function modelAttributes({
  run,
  provider,
  modelId,
  agent,
  round,
  attempt,
  options,
}: ModelOperation): Attributes {
  const {
    maxOutputTokens,
    temperature,
    topP,
    topK,
    frequencyPenalty,
    presencePenalty,
    stopSequences,
    seed,
    responseFormat,
  } = options;
  return known({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': modelId,
    ...placeIn(run),
    'gen_ai.agent.name': agent,
    'gen_ai.output.type': responseFormat?.type,
    'gen_ai.request.max_tokens': maxOutputTokens,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.top_k': topK,
    'gen_ai.request.frequency_penalty': frequencyPenalty,
    'gen_ai.request.presence_penalty': presencePenalty,
    'gen_ai.request.stop_sequences': stopSequences,
    'gen_ai.request.seed': seed,
    'adjutant.round': round,
    'adjutant.attempt': attempt,
  });
}

export function toolAttributes({
  run,
  name,
  description,
  agent,
  callId,
  providerCallId,
  attempt,
}: ToolOperation): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': providerCallId,
    'gen_ai.tool.description': description,
    'gen_ai.tool.type': 'function',
    ...placeIn(run),
    'gen_ai.agent.name': agent,
    'adjutant.call.id': callId,
    'adjutant.attempt': attempt,
  };
}

/** Attributes of a model call that has ended. Estimated usage is left out. */
export function modelEndAttributes(event: EventOf<'model_end'>): Attributes {
  const {
    status,
    usage,
    estimated,
    cost,
    finishReason,
    timeToFirstTokenMs,
    substitutedBy,
    retryAfterMs,
  } = event;
  return known({
    'adjutant.status': status,
    ...(estimated === true ? {} : usageAttributes(usage)),
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.response.time_to_first_chunk':
      timeToFirstTokenMs === undefined ? undefined : timeToFirstTokenMs / 1_000,
    'adjutant.cost.usd': cost,
    'adjutant.substituted_by': substitutedBy,
    'adjutant.retry_after_ms': retryAfterMs,
  });
}

function usageAttributes(usage: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
  };
}

/** Attributes without those that are missing. */
export function known(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
