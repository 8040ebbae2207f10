import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Model } from '../models/model.ts';
import type { Agent } from '../runnables/agent.ts';
import type { Renderer } from '../runnables/render-context.ts';

type ResponseFormat = LanguageModelV4CallOptions['responseFormat'];

/** How far a model can be held to a JSON Schema. */
function supportOf(model: Model): 'always' | 'without_tools' | 'never' {
  return (model as { structuredOutputs?: 'always' | 'without_tools' | 'never' }).structuredOutputs ?? 'always';
}

/**
 * The form of the answer that the provider is asked for. A server that constrains everything to the schema could not call tools any more, so
 * it is asked only when it is offered none; one that takes no schema is asked for JSON then.
 */
export function responseFormatOf(agent: Agent, model: Model, hasTools = agent.tools.length > 0): ResponseFormat {
  const { asked } = agent.output ?? {};
  if (asked === undefined) return undefined;
  const support = supportOf(model);
  if (support !== 'always' && hasTools) return undefined;
  if (support === 'never') return { type: 'json' };
  // JSON of a definition is read-only, which the provider's types do not know.
  return { type: 'json', schema: asked as NonNullable<Extract<ResponseFormat, { type: 'json' }>['schema']>, name: nameOf(agent) };
}

/** Providers take letters, digits, `_` and `-`, at most 64. */
function nameOf({ name, output }: Agent): string {
  return (output?.key ?? name).replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

/** What the model is told ahead of everything else: the goal, and the form of the answer where the provider does not see to it. */
export function answerRenderers(_agent: Agent): readonly Renderer[] {
  return [];
}
