import type { JsonObject } from '../base/json.ts';
import {
  isAnything,
  isCount,
  isGroup,
  isListOfFunctions,
  isNonEmptyText,
  isObject,
  isOneOf,
  isPositive,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import { type AnySchema, isConvertedSchema } from '../base/schema.ts';
import type { ModelInput } from '../models/model.ts';
import { isNamedModelOrList } from '../models/named-model.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import { isSupervisionOfAgent, type SupervisionOptions } from '../supervision/options.ts';
import type { Tool } from '../tools/tool.ts';
import { modelsOf } from './agent-models.ts';
import { type CompactionOptions, isCompaction } from './compaction-options.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';
import { type Goal, isGoal, type ResolvedGoal, resolveGoal } from './goal.ts';
import { AgentHandoffs, type Handoff, isListOfHandoffs, keepHandoffs } from './handoffs.ts';
import {
  type ErrorHandler,
  type Hooks,
  isHooks,
  isListOfAgentMiddleware,
  isListOfErrorHandlers,
  type Middleware,
} from './hooks.ts';
import { resolveInput } from './input.ts';
import {
  type AgentOutput,
  type AnswerOf,
  isOutput,
  type OutputOption,
  resolveOutput,
} from './output.ts';
import type { PromptText, Renderer, ToolChoice } from './render-context.ts';

/**
 * The reaction to a limit: one last answer without tools, an error, or the question if it may be
 * exceeded.
 */
export type OnLimit = 'answer' | 'fail' | 'ask';

/**
 * The time at which an approved call is made: after its own answer, or after all answers of its
 * round.
 */
export type Hold = 'each' | 'round';

/** Limits of one agent invocation. */
export interface AgentLimits {
  /** Rounds of one model call and its tool calls. @default 25 */
  readonly rounds?: number;
  /**
   * Input and output tokens of all model calls, with those of everything that the agent starts.
   * @default none
   */
  readonly tokens?: number;
  /** US dollars, counted like tokens. @default none */
  readonly cost?: number;
  /** Failed attempts of its tools and of its model calls. @default none */
  readonly errors?: number;
  /** @default 'answer' */
  readonly onLimit?: OnLimit;
}

/**
 * `Output` is what the option `output` is; the type of the answer follows from it. `Schema` types
 * the state that hooks see.
 */
export interface AgentOptions<
  Output extends OutputOption = OutputOption,
  Schema extends StateSchema = StateSchema,
  Name extends string = string,
  Handoffs extends readonly Handoff[] = readonly Handoff[],
> {
  readonly name: Name;
  /**
   * A model, or its name as `parseModelName` reads it (`'openai:gpt-5-mini'`). With more than one,
   * each next one is asked when those before it cannot answer.
   */
  readonly model: ModelInput | string | readonly (ModelInput | string)[];
  /** Description for agents that may call this one or hand off to it. */
  readonly description?: string;
  /**
   * System message in front of `context`, or a function that gives it for each prompt. Short for
   * `injectSystemMessage` as the first renderer.
   * @default none
   */
  readonly instructions?: PromptText;
  /** Makes the prompt, from left to right. @default [includeHistory()] */
  readonly context?: readonly Renderer[];
  readonly tools?: readonly Tool[];
  /**
   * Runnables that may continue in the place of the agent: each becomes a tool
   * `transfer_to_<name>`. A function gives one that is defined later: `() => triage`.
   * @default none
   */
  readonly handoffs?: Handoffs;
  /** @default 'auto' */
  readonly toolChoice?: ToolChoice;
  /**
   * The form of the answer: a key of the session state that the text of the answer is written to,
   * `output(stateSchema, 'key')` for a value of the key's type, or a schema. An answer that does
   * not fit is requested again, twice at most; then the agent fails with `validation_error`.
   */
  readonly output?: Output;
  /** The goal of the agent, with its check. */
  readonly goal?: Goal<AnswerOf<Output>>;
  /**
   * Schema of the data that `call`, `spawn`, `dispatch`, tools made of it and `run({ data })` pass.
   * @default anything, or nothing
   */
  readonly input?: AnySchema;
  readonly limits?: AgentLimits;
  /** Shorthand of `limits.rounds`. */
  readonly maxSteps?: number;
  /**
   * Tool calls of one round that run at the same time.
   * @default `defaults.toolConcurrency` of the runtime, else 16
   */
  readonly toolConcurrency?: number;
  /**
   * `each`: a call that waited is made as soon as it has its own answer. `round`: when all requests
   * of its round are answered; calls without a request are not delayed.
   * @default 'each'
   */
  readonly hold?: Hold;
  /** Changes with the meaning of the definition; recorded with every invocation. */
  readonly version?: string;
  /**
   * Checks writes to session state under `output`, and types the state for hooks, middleware and
   * error handlers.
   */
  readonly stateSchema?: Schema;
  /**
   * Supervision of the agent: loops, errors, results, guardrails. Everything is on by default;
   * `false` turns all of it off.
   */
  readonly supervision?: SupervisionOptions | false;
  /** Called after those of the runtime. */
  readonly hooks?: Hooks<Schema> | readonly Hooks<Schema>[];
  /** Inside that of the runtime. */
  readonly middleware?: readonly Middleware<Schema>[];
  /** Asked after those of the runtime. */
  readonly errorHandlers?: readonly ErrorHandler<Schema>[];
  /** Limits that keep prompts within the model's window. */
  readonly compaction?: CompactionOptions | false;
}

export interface ResolvedLimits {
  readonly rounds: number;
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
  readonly errors: number | undefined;
  readonly onLimit: OnLimit;
}

/** A model with instructions and tools, called in rounds until it answers. */
export interface Agent<Output = unknown, Name extends string = string>
  extends Runnable<Output, Name> {
  readonly kind: 'agent';
  readonly model: ModelInput;
  /** Models that are asked when those before them cannot answer. */
  readonly fallbackModels: readonly ModelInput[];
  readonly instructions: PromptText | undefined;
  readonly context: readonly Renderer[] | undefined;
  /** Tools of the agent. Those of its `handoffs` come last. */
  readonly tools: readonly Tool[];
  readonly handoffs: readonly Handoff[];
  readonly toolChoice: ToolChoice | undefined;
  readonly output: AgentOutput | undefined;
  readonly goal: ResolvedGoal | undefined;
  readonly input: AnySchema | undefined;
  /** JSON Schema of `input`, as models are shown it. */
  readonly inputSchema: JsonObject | undefined;
  readonly limits: ResolvedLimits;
  readonly toolConcurrency: number | undefined;
  readonly hold: Hold;
  readonly stateSchema: StateSchema | undefined;
  readonly supervision: SupervisionOptions | false | undefined;
  readonly hooks: readonly Hooks[];
  readonly middleware: readonly Middleware[];
  readonly errorHandlers: readonly ErrorHandler[];
  readonly compaction: CompactionOptions | false | undefined;
}

/** Rounds of one agent invocation unless it says otherwise. */
const defaultRounds = 25;

const limitOptions: OptionChecks<AgentLimits> = {
  rounds: isCount,
  tokens: isPositive,
  cost: isPositive,
  errors: isCount,
  onLimit: isOneOf('answer', 'fail', 'ask'),
};

/** Members that `agent` adds. A definition may be spread into the options of a new one. */
const addedMembers: OptionChecks<Pick<Agent, 'inputSchema' | 'fallbackModels'>> = {
  inputSchema: isConvertedSchema('input'),
  fallbackModels: isAnything,
};

const agentOptions: OptionChecks<AgentOptions> = {
  name: isText,
  model: isNamedModelOrList,
  description: isText,
  instructions: isInstructions,
  context: isContext,
  tools: isListOfTools,
  handoffs: isListOfHandoffs,
  toolChoice: isToolChoice,
  output: isOutput,
  goal: isGoal,
  input: isAnything,
  limits: isGroup(limitOptions),
  maxSteps: isCount,
  toolConcurrency: isCount,
  hold: isOneOf('each', 'round'),
  version: isText,
  stateSchema: isObject,
  supervision: isSupervisionOfAgent,
  hooks: isHooks,
  middleware: isListOfAgentMiddleware,
  errorHandlers: isListOfErrorHandlers,
  compaction: isCompaction,
};

function isListOfTools(value: unknown): string | undefined {
  // Tools of the AI SDK have an `inputSchema` and no name.
  const isTool = (part: Partial<Tool> | null | undefined) =>
    typeof part?.execute === 'function' &&
    part.inputSchema !== undefined &&
    typeof part.name === 'string';
  return Array.isArray(value) && value.every(isTool)
    ? undefined
    : 'a list of tools made by tool(), or agentTool() for runnables';
}

function isContext(value: unknown): string | undefined {
  if (typeof value === 'string') return 'a list of renderers; a text belongs into `instructions`';
  return isListOfFunctions(value);
}

function isInstructions(value: unknown): string | undefined {
  const fits = isNonEmptyText(value) === undefined || typeof value === 'function';
  return fits ? undefined : 'a text that is not empty, or a function that gives one';
}

function isToolChoice(value: unknown): string | undefined {
  const isNamed =
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { name?: unknown }).name === 'string';
  return isNamed
    ? undefined
    : isOneOf('auto', 'none', 'required')(value) &&
        "'auto', 'none', 'required' or { name: 'a tool' }";
}

/**
 * Defines an agent.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { agent, tool } from 'adjutant';
 * import { z } from 'zod';
 *
 * const stock = tool({
 *   name: 'stock',
 *   description: 'Tells how many of an article there are',
 *   schema: z.object({ article: z.string() }),
 *   readOnly: true,
 *   execute: () => ({ count: 7 }),
 * });
 * export const clerk = agent({
 *   name: 'clerk',
 *   model: 'openai:gpt-5-mini',
 *   instructions: 'You work in a shop.',
 *   tools: [stock],
 *   limits: { rounds: 10 },
 * });
 * ```
 */
export function agent<
  const Output extends OutputOption = string,
  Schema extends StateSchema = StateSchema,
  const Name extends string = string,
  // A tuple, so that the types of functions in it are not compared and two agents can name each
  // other.
  const Handoffs extends readonly Handoff[] = [],
>(typed: AgentOptions<Output, Schema, Name, Handoffs>): Agent<AnswerOf<Output>, Name> {
  // The types of the output and the state are for the caller only.
  const options = typed as unknown as AgentOptions;
  checkDefinition<AgentOptions>('agent', options, agentOptions, addedMembers);
  if (options.model === undefined)
    throw new InvalidDefinitionError({
      kind: 'agent',
      name: options.name,
      reason: `\`model\` must be ${isNamedModelOrList(undefined)}`,
    });
  // A definition that is spread into new options has the tools of its handoffs too.
  const tools = (options.tools ?? []).filter(({ handoff }) => handoff === undefined);
  assertNoDuplicate(options.name, tools);
  return withHandoffs(tools, {
    kind: 'agent' as const,
    name: typed.name,
    version: options.version,
    description: options.description,
    ...modelsOf(options.name, options as AgentOptions & Pick<Agent, 'fallbackModels'>),
    instructions: options.instructions,
    context: options.context === undefined ? undefined : Object.freeze([...options.context]),
    tools: Object.freeze(tools),
    handoffs: Object.freeze([...(options.handoffs ?? [])]),
    toolChoice: options.toolChoice,
    output: resolveOutput(options.name, options.output),
    goal: resolveGoal(options.goal),
    ...resolveInput('agent', options),
    limits: resolveLimits(options),
    toolConcurrency: options.toolConcurrency,
    hold: options.hold ?? 'each',
    stateSchema: options.stateSchema,
    supervision: options.supervision,
    hooks: Object.freeze(
      options.hooks === undefined ? [] : [options.hooks].flat(),
    ) as readonly Hooks[],
    middleware: Object.freeze([...(options.middleware ?? [])]),
    errorHandlers: Object.freeze([...(options.errorHandlers ?? [])]),
    compaction: options.compaction,
  });
}

/** Freezes a definition whose tools have those of its handoffs, made when they are needed. */
function withHandoffs<Definition extends Agent>(
  own: readonly Tool[],
  definition: Definition,
): Definition {
  const { name } = definition;
  if (definition.handoffs.length === 0) return Object.freeze(definition);
  const handoffs = new AgentHandoffs(name, definition.handoffs);
  let tools: readonly Tool[] | undefined;
  const get = (): readonly Tool[] => {
    if (tools === undefined) {
      const all = Object.freeze([...own, ...handoffs.tools]);
      assertNoDuplicate(name, all);
      tools = all;
    }
    return tools;
  };
  Object.defineProperty(definition, 'tools', { enumerable: true, get });
  keepHandoffs(definition, handoffs);
  if (handoffs.isKnown) get();
  return Object.freeze(definition);
}

/** @throws InvalidDefinitionError when two tools have one name */
function assertNoDuplicate(agent: string, tools: readonly Tool[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name))
      throw new InvalidDefinitionError({
        kind: 'agent',
        name: agent,
        reason: `it has two tools named "${name}"`,
      });
    seen.add(name);
  }
}

function resolveLimits({
  limits = {},
  maxSteps,
}: Pick<AgentOptions, 'limits' | 'maxSteps'>): ResolvedLimits {
  const rounds = limits.rounds ?? maxSteps ?? defaultRounds;
  return Object.freeze({
    rounds,
    tokens: limits.tokens,
    cost: limits.cost,
    errors: limits.errors,
    onLimit: limits.onLimit ?? 'answer',
  });
}
