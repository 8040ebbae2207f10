import { contentHash } from '../../base/hash.ts';
import { isPlainObject } from '../../base/json.ts';
import { isModel } from '../../base/model-option.ts';
import { isStandardSchema, jsonSchemaOf } from '../../base/schema.ts';
import { type ModelInput, modelName, toModel } from '../../models/model.ts';
import { writtenMessageOf } from '../../runnables/prompt-text.ts';
import type { PromptEvent, RenderContext, Renderer } from '../../runnables/render-context.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';

const deepest = 12;

/**
 * Names what a runnable is: its instructions, models, tools, schemas, limits and the source of its
 * functions. What functions reach beyond their own source (what they import, files, services) is
 * not in it; that is what `version` is for.
 * @param tools the tools that the app has for all agents
 */
export function definitionFingerprint(runnable: Runnable, tools: readonly Tool[] = []): string {
  return contentHash([described(runnable, new Set(), 0), described(tools, new Set(), 0)]);
}

function described(value: unknown, above: ReadonlySet<object>, depth: number): unknown {
  if (typeof value === 'function') return isStandardSchema(value) ? schemaOf(value) : String(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value) || depth > deepest) return '…';
  const inside = new Set([...above, value]);
  const part = (one: unknown): unknown => described(one, inside, depth + 1);
  if (isModel(value) === undefined) return modelOf(value as ModelInput, part);
  if (isStandardSchema(value)) return schemaOf(value);
  if (Array.isArray(value)) return value.map(part);
  if (value instanceof RegExp || value instanceof Date) return String(value);
  if (!isPlainObject(value)) return value.constructor?.name ?? 'object';
  const members = Object.entries(value).map(
    ([name, member]) => [name, name === 'context' ? promptOf(member, part) : part(member)] as const,
  );
  return Object.fromEntries(members);
}

function modelOf(input: ModelInput, part: (one: unknown) => unknown): unknown {
  const model = toModel(input);
  return { model: modelName(model), settings: part(model.settings) };
}

function schemaOf(schema: unknown): unknown {
  const converted = jsonSchemaOf(schema);
  return 'schema' in converted ? converted.schema : 'schema';
}

/**
 * Renderers with the messages that they add: their texts are not in the source of the functions.
 */
function promptOf(renderers: unknown, part: (one: unknown) => unknown): unknown {
  if (!Array.isArray(renderers) || !renderers.every((one) => typeof one === 'function'))
    return part(renderers);
  return renderers.map((renderer: Renderer) => {
    const added: PromptEvent[] = [];
    try {
      renderer(probe(added));
    } catch {
      // It needs what only a run has: its source has to do.
      const written = writtenMessageOf(renderer);
      if (added.length === 0 && written !== undefined) return [String(written.write), part(added)];
    }
    return [String(renderer), part(added)];
  });
}

/** A prompt in the making that nothing is in, to see what a renderer puts into it. */
function probe(added: PromptEvent[]): RenderContext {
  const context: RenderContext = {
    agent: 'agent',
    invocationId: 'run',
    round: 1,
    startedAt: 0,
    state: { session: {} },
    usage: { inputTokens: 0, outputTokens: 0 },
    events: [],
    tools: [],
    toolChoice: undefined,
    charactersOf: () => 0,
    withEvents: (events) => keep(...events),
    append: (event) => keep(event),
    includeHistory: () => context,
    withTools: () => context,
    withToolChoice: () => context,
  };
  const keep = (...events: readonly PromptEvent[]): RenderContext => {
    added.push(...events);
    return context;
  };
  return context;
}
