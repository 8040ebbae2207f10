import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { injectSystemMessage } from '../../context/renderers.ts';
import { type Model, toModel } from '../../models/model.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { AgentOutput } from '../../runnables/output.ts';
import type { Renderer } from '../../runnables/render-context.ts';

type ResponseFormat = LanguageModelV4CallOptions['responseFormat'];

const anyJson: ResponseFormat = Object.freeze({ type: 'json' });
/**
 * Made once for each output: settings of calls are known again by the objects that they are made
 * of.
 */
const formats = new WeakMap<AgentOutput, ResponseFormat>();

/**
 * The form of the answer that the provider is asked for; the same object for the same output. A
 * server that holds everything to the schema cannot call tools any more, so it is asked only when
 * it is offered none; one that takes no schema is asked for JSON then.
 */
export function responseFormatOf(agent: Agent, model: Model, hasTools: boolean): ResponseFormat {
  const { output } = agent;
  if (output?.asked === undefined) return undefined;
  const { structuredOutputs = 'always' } = model;
  if (structuredOutputs !== 'always' && hasTools) return undefined;
  if (structuredOutputs === 'never') return anyJson;
  let format = formats.get(output);
  if (format === undefined) {
    // JSON of a definition is read-only, which the provider's types do not know.
    const schema = output.asked as NonNullable<Extract<ResponseFormat, { type: 'json' }>['schema']>;
    format = Object.freeze({ type: 'json', schema, name: nameOf(agent) });
    formats.set(output, format);
  }
  return format;
}

/** Providers take letters, digits, `_` and `-`, at most 64. */
function nameOf({ name, output }: Agent): string {
  return (output?.key ?? name).replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

const noRenderers: readonly Renderer[] = Object.freeze([]);

/**
 * What the model is told ahead of everything else: the goal, and the form of the answer where a
 * provider of the agent's models may not see to it. The same text in all prompts, so that providers
 * can keep what they made of it.
 */
export function answerRenderers(agent: Agent): readonly Renderer[] {
  const told = [goalText(agent), formText(agent)].filter((text) => text !== undefined);
  return told.length === 0 ? noRenderers : [injectSystemMessage(told.join('\n\n'))];
}

function goalText({ goal }: Agent): string | undefined {
  const parts = [
    ...(goal?.description === undefined ? [] : [`Your goal: ${goal.description}`]),
    ...(goal?.expectedOutput === undefined
      ? []
      : [`What is expected of your answer: ${goal.expectedOutput}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('\n');
}

function formText({ output, model, fallbackModels }: Agent): string | undefined {
  if (output === undefined || output.form === 'text') return undefined;
  if (output.form !== 'json') return primitiveText(output.form);
  const areHeld = [model, ...fallbackModels].every(
    (input) => (toModel(input).structuredOutputs ?? 'always') === 'always',
  );
  return areHeld
    ? undefined
    : 'Your answer, once you call no more tools, is nothing but JSON that fits this JSON ' +
        `Schema:\n${JSON.stringify(output.asked)}`;
}

function primitiveText(form: Exclude<AgentOutput['form'], 'text' | 'json'>): string {
  return (
    'Your answer, once you call no more tools, is ' +
    `${form === 'number' ? 'one number' : 'either true or false'} and nothing else.`
  );
}

/** What OpenAI does not take in a schema that it keeps to strictly. */
const looseKeywords: readonly string[] = [
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'dependentSchemas',
  'propertyNames',
];
/** Names under which the providers of OpenAI and of servers like it read their options. */
const strictProviders = ['openai', 'openaiCompatible'] as const;

/**
 * Settings of a call with what the form of its answer needs: OpenAI refuses schemas with optional
 * members, open objects and some keywords, unless it is told not to keep to them strictly. What the
 * user says of it holds.
 */
export function withFormat<Settings extends { readonly providerOptions?: unknown }>(
  settings: Settings,
  format: ResponseFormat,
): Settings {
  if (format?.type !== 'json' || format.schema === undefined || isStrict(format.schema))
    return settings;
  const given = (settings.providerOptions ?? {}) as Readonly<Record<string, object>>;
  const loose = strictProviders.map((provider) => [
    provider,
    { strictJsonSchema: false, ...given[provider] },
  ]);
  return { ...settings, providerOptions: { ...given, ...Object.fromEntries(loose) } };
}

function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties, ...rest } = schema as Readonly<
    Record<string, unknown>
  >;
  if (looseKeywords.some((keyword) => keyword in rest)) return false;
  const members = typeof properties === 'object' && properties !== null ? properties : {};
  const isObject = type === 'object' || properties !== undefined;
  const names = Array.isArray(required) ? required : [];
  if (
    isObject &&
    (additionalProperties !== false || !Object.keys(members).every((name) => names.includes(name)))
  )
    return false;
  const { enum: _values, const: _value, default: _default, examples: _examples, ...inner } = rest;
  const maps = [members, inner['$defs'], inner['definitions']].flatMap((map) =>
    typeof map === 'object' && map !== null ? Object.values(map) : [],
  );
  return [...maps, inner['items'], inner['anyOf'], inner['prefixItems']].every(isStrict);
}
