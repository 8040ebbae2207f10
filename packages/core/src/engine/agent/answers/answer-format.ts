import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { injectSystemMessage } from '../../../context/renderers.ts';
import { type Model, toModel } from '../../../models/model.ts';
import type { Agent } from '../../../runnables/agent.ts';
import type { AgentOutput } from '../../../runnables/output.ts';
import type { Renderer } from '../../../runnables/render-context.ts';

type ResponseFormat = LanguageModelV4CallOptions['responseFormat'];

const anyJson: ResponseFormat = Object.freeze({ type: 'json' });
/**
 * Response formats, made once for each output: settings of calls are recognised by the identity of
 * their objects.
 */
const formats = new WeakMap<AgentOutput, ResponseFormat>();

/**
 * Returns the response format for the provider; the same object for the same output. A server that
 * holds all output to the schema cannot call tools. So it gets the format only in calls without
 * tools. A server that supports no schema then gets plain JSON as the format.
 */
export function responseFormatOf(agent: Agent, model: Model, hasTools: boolean): ResponseFormat {
  const { output } = agent;
  if (output?.asked === undefined) return undefined;
  const { structuredOutputs = 'always' } = model;
  if (structuredOutputs !== 'always' && hasTools) return undefined;
  if (structuredOutputs === 'never') return anyJson;
  let format = formats.get(output);
  if (format === undefined) {
    // JSON of a definition is read-only; the provider's types do not say so.
    const schema = output.asked as NonNullable<Extract<ResponseFormat, { type: 'json' }>['schema']>;
    format = Object.freeze({ type: 'json', schema, name: nameOf(agent) });
    formats.set(output, format);
  }
  return format;
}

/**
 * Returns a schema name that providers accept: letters, digits, `_` and `-`, at most 64 characters.
 */
function nameOf({ name, output }: Agent): string {
  return (output?.key ?? name).replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

const noRenderers: readonly Renderer[] = Object.freeze([]);

/**
 * Returns the renderers of the text before all other messages: the goal, and the form of the
 * answer. The form is there only if a provider of the agent's models may not enforce it. The text
 * is the same in all prompts, so that providers can cache it.
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

/** Keywords that OpenAI refuses in a strict schema. */
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
/** Keys of the provider options that OpenAI and compatible servers read. */
const strictProviders = ['openai', 'openaiCompatible'] as const;

/**
 * Returns the settings of a call, with strict mode off when the schema of its answer requires that.
 * In strict mode OpenAI refuses schemas with optional members, open objects and some keywords. The
 * user's own setting wins.
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
