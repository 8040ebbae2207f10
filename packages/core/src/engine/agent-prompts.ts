import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { contentHash } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import { currentEncoder } from '../context/message-encoder.ts';
import { Histories, renderPrompt } from '../context/prompt.ts';
import { lastSegments, writeRecipe } from '../context/recipe.ts';
import { includeHistory, injectUserMessage } from '../context/renderers.ts';
import { resultLimit } from '../context/truncate.ts';
import type { EventOf } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import type { PromptRecipe, RecipeSegment } from '../ledger/prompt-recipe.ts';
import { visibleValues } from '../ledger/state-fold.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import { callSettings, type Model } from '../models/model.ts';
import { contextWindowOf } from '../models/window.ts';
import type { Agent } from '../runnables/agent.ts';
import type { Renderer, RenderState, ToolChoice } from '../runnables/render-context.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunContext } from './run-context.ts';

const defaultRenderers: readonly Renderer[] = [includeHistory()];
const finalAnswer = injectUserMessage(
  'You have used up what this task allows. Do not call any tools. Answer now as well as you can with what you know, and say what is missing.',
);

const noUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** A prompt ready to be sent, and what is recorded of it. */
export interface PreparedCall {
  readonly options: LanguageModelV4CallOptions;
  readonly recipe: PromptRecipe;
  readonly characters: number;
}

/** Makes the prompts of one agent invocation. What does not change from call to call is made once. */
export class AgentPrompts {
  readonly #run: RunContext;
  readonly #agent: Agent;
  readonly #path: string;
  readonly #model: Model;
  readonly #histories: Histories;
  readonly #resultLimit: number;
  readonly #settings = new Map<
    string,
    { readonly hash: string; readonly content: JsonValue; readonly call: Omit<LanguageModelV4CallOptions, 'prompt'> }
  >();
  #previous: readonly RecipeSegment[] | undefined;

  constructor(run: RunContext, agent: Agent, model: Model, record: InvocationRecord) {
    this.#run = run;
    this.#agent = agent;
    this.#path = record.path;
    this.#model = model;
    this.#resultLimit = resultLimit(contextWindowOf(model));
    this.#histories = new Histories(run.ledger, record.path, agent.name, {
      encoder: currentEncoder,
      resultLimit: this.#resultLimit,
      resolve: run.ledger.resolve,
      toolName: toolWireName,
    });
    const starts = record.events.filter((event): event is EventOf<'model_start'> => event.type === 'model_start');
    this.#previous = lastSegments(starts);
  }

  prepare(round: number, tools: readonly Tool[], final: boolean): PreparedCall {
    const { ledger } = this.#run;
    const renderers = this.#agent.context ?? defaultRenderers;
    const offered = { tools: tools.map(({ name }) => name), toolChoice: this.#agent.toolChoice };
    const rendered = renderPrompt(
      final ? [...renderers, finalAnswer] : renderers,
      new RunRenderState(this.#run, this.#agent.name, this.#path, round),
      this.#histories,
      offered,
    );
    const settings = this.#settingsFor(tools, rendered.tools, final ? 'none' : rendered.toolChoice);
    const recipe = writeRecipe(rendered, settings, this.#resultLimit, round, {
      previous: this.#previous,
      isRecorded: (hash) => ledger.contents.has(hash),
    });
    this.#previous = rendered.segments;
    return { options: { prompt: rendered.messages, ...settings.call }, recipe, characters: rendered.characters };
  }

  #settingsFor(tools: readonly Tool[], names: readonly string[], toolChoice: ToolChoice | undefined) {
    const key = `${names.join(' ')}\n${typeof toolChoice === 'object' ? `=${toolChoice.name}` : (toolChoice ?? '')}`;
    let settings = this.#settings.get(key);
    if (settings === undefined) {
      const offered = tools.filter(({ name }) => names.includes(name)).map(functionTool);
      const choice = offered.length === 0 ? undefined : wireChoice(toolChoice);
      const call = {
        ...(offered.length === 0 ? {} : { tools: offered }),
        ...(choice === undefined ? {} : { toolChoice: choice }),
        ...callSettings(this.#model.settings),
      } as Omit<LanguageModelV4CallOptions, 'prompt'>;
      const content = JSON.parse(JSON.stringify(call)) as JsonValue;
      settings = { hash: contentHash(content), content, call };
      this.#settings.set(key, settings);
    }
    return settings;
  }
}

/** A class, because a literal with a getter is slow to make and there is one for each prompt. */
class RunRenderState implements RenderState {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  readonly usage = noUsage;
  readonly #run: RunContext;

  constructor(run: RunContext, agent: string, path: string, round: number) {
    this.#run = run;
    this.agent = agent;
    this.invocationId = path;
    this.round = round;
  }

  /** Looked up only when a renderer asks: most prompts do not depend on state. */
  get state(): RenderState['state'] {
    const { ledger, session } = this.#run;
    const scopes: Record<string, Readonly<Record<string, unknown>>> = { session: visibleValues(ledger.state, 'session', this.invocationId) };
    for (const scope of session.shared.names) scopes[scope] = visibleValues(ledger.state, scope);
    return scopes;
  }
}

function functionTool(tool: Tool): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: toolWireName(tool.name),
    description: tool.description,
    inputSchema: tool.inputSchema as LanguageModelV4FunctionTool['inputSchema'],
  };
}

function wireChoice(choice: ToolChoice | undefined): LanguageModelV4ToolChoice | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: toolWireName(choice.name) };
}
