import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import { contentHash } from '../../base/hash.ts';
import type { JsonValue } from '../../base/json.ts';
import { currentEncoder } from '../../context/encoders.ts';
import type { History } from '../../context/history.ts';
import { encodePrompt, Histories, promptContext, type RewriteEvent } from '../../context/prompt.ts';
import { lastSegments, writeRecipe } from '../../context/recipe.ts';
import { type Rendering, render } from '../../context/render.ts';
import { TokenGauge } from '../../context/token-gauge.ts';
import { resultLimit } from '../../context/truncate.ts';
import { untilAborted } from '../../effects/until-aborted.ts';
import type { EventOf } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { visibleValues } from '../../ledger/folds/state-fold.ts';
import type { PromptRecipe, RecipeSegment } from '../../ledger/prompt-recipe.ts';
import { toolWireName } from '../../ledger/tool-name.ts';
import { markObjectInputs } from '../../models/call.ts';
import { contextWindowOf } from '../../models/measures/window.ts';
import { callSettings, type Model, modelName, toModel } from '../../models/model.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { ResolvedCompaction } from '../../runnables/compaction-options.ts';
import type {
  PromptEvent,
  RenderContext,
  Renderer,
  RenderState,
  ToolChoice,
} from '../../runnables/render-context.ts';
import type { Tool } from '../../tools/tool.ts';
import type { BodyFrame, RunContext } from '../frame/run-context.ts';
import { withFormat } from './answers/answer-format.ts';
import { reportMissingHistory } from './missing-history.ts';
import { finalAnswer } from './own-renderers.ts';
import { PromptTokens } from './prompt-tokens.ts';

const noUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** Prompt that is ready to be sent, with its recipe for the ledger. */
export interface PreparedCall {
  readonly options: LanguageModelV4CallOptions;
  readonly recipe: PromptRecipe;
  /**
   * Characters of the prompt, of the tools and of the settings. The estimate that is recorded with
   * the call is computed from them.
   */
  readonly characters: number;
  /**
   * Input tokens: counted from the texts, or estimated from the characters and corrected by the
   * last report of the provider.
   */
  readonly tokens: number;
}

/** Request for the prompt of one model call. */
export interface PromptRequest {
  readonly round: number;
  readonly tools: readonly Tool[];
  /** True when the answer is given without tools. */
  readonly final: boolean;
  readonly model: Model;
  /** Most characters of a tool result, when that is less than the model's window allows. */
  readonly resultLimit?: number | undefined;
  /** Most tokens of the answer, in the place of the model's own setting. */
  readonly maxOutputTokens?: number | undefined;
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  /** Rewrite of recorded events, applied before anything else sees them. */
  readonly rewrite?: RewriteEvent | undefined;
  /**
   * Changes the prompt last of all. The changed prompt is recorded like any other. Returns
   * `undefined` when the call is not to be made.
   */
  readonly adjust?: ((context: RenderContext) => Promise<RenderContext | undefined>) | undefined;
}

export interface AgentPromptsParts {
  readonly frame: BodyFrame;
  readonly agent: Agent;
  readonly renderers: readonly Renderer[];
  readonly compaction: ResolvedCompaction;
}

type CallWithoutPrompt = Omit<LanguageModelV4CallOptions, 'prompt'>;

interface Settings {
  readonly hash: string;
  readonly content: JsonValue;
  readonly call: CallWithoutPrompt;
  readonly characters: number;
}

/**
 * Maker of the prompts of one agent invocation. Parts that stay the same between calls are made
 * once.
 */
export class AgentPrompts {
  readonly #parts: AgentPromptsParts;
  readonly #settings = new Map<string, Settings>();
  readonly #identities = new Map<object, number>();
  readonly #windows = new Map<Model, number>();
  readonly #gauge: TokenGauge;
  readonly #tokens = new PromptTokens();
  #histories: Histories;
  #recorded: readonly RecipeSegment[] | undefined;
  /**
   * Last prompt that was made. It was sent if a call began after `after`, the last event at that
   * time.
   */
  #made: { readonly segments: readonly RecipeSegment[]; readonly after: number } | undefined;
  #shown: RenderContext | undefined;

  constructor(parts: AgentPromptsParts) {
    this.#parts = parts;
    const { record } = parts.frame;
    this.#gauge = new TokenGauge(record.events);
    const model = toModel(parts.agent.model);
    this.#histories = this.#historiesFor(this.resultLimitOf(model), modelName(model));
    this.#recorded = lastSegments(
      record.events.filter(
        (event): event is EventOf<'model_start'> => event.type === 'model_start',
      ),
    );
  }

  #historiesFor(limit: number, model: string): Histories {
    const { frame, agent } = this.#parts;
    const { run, record } = frame;
    const options = {
      encoder: currentEncoder,
      resultLimit: limit,
      resolve: run.ledger.resolve,
      toolName: toolWireName,
      model,
    };
    return new Histories(run.ledger, record.path, agent.name, options);
  }

  /**
   * Returns the tokens that prompt and answer may have together. The value is kept for each model:
   * every call needs it.
   */
  windowOf(model: Model): number {
    let window = this.#windows.get(model);
    if (window === undefined) {
      window = contextWindowOf(model);
      this.#windows.set(model, window);
    }
    return window;
  }

  /** Returns the most characters of a tool result in a prompt for the model. */
  resultLimitOf(model: Model): number {
    return resultLimit(this.windowOf(model), this.#parts.compaction);
  }

  /**
   * History of the last prompt; `undefined` when that prompt had none. Before the first prompt it
   * is the default history.
   */
  get history(): History | undefined {
    return this.#made === undefined ? this.#histories.of('ancestors') : this.#histories.main;
  }

  /**
   * Events of the last prompt as the model reads it. Events that renderers left out are missing,
   * and messages are replaced by their rewrites.
   */
  get shown(): readonly PromptEvent[] {
    return this.#shown?.events ?? [];
  }

  /** Gauge that converts characters into tokens of the provider. */
  get gauge(): TokenGauge {
    return this.#gauge;
  }

  /**
   * Prepares a prompt. Returns a promise only when a text or `adjust` must be awaited. It resolves
   * to `undefined` when the agent was stopped meanwhile.
   */
  prepare(request: PromptRequest): PreparedCall | Promise<PreparedCall | undefined> {
    const { frame, agent, renderers } = this.#parts;
    const { run, record, scope } = frame;
    const { round, tools, model, rewrite } = request;
    const limit = Math.min(
      request.resultLimit ?? Number.POSITIVE_INFINITY,
      this.resultLimitOf(model),
    );
    const asked = modelName(model);
    const { options } = this.#histories;
    if (options.resultLimit !== limit || options.model !== asked)
      this.#histories = this.#historiesFor(limit, asked);
    const offered = { tools: tools.map(({ name }) => name), toolChoice: agent.toolChoice };
    const start = promptContext(
      new RunRenderState(run, agent.name, record, round),
      this.#histories,
      offered,
      rewrite,
    );
    const { recording } = run.ledger.ports;
    const rendering = render(
      start,
      renderers,
      recording === undefined ? undefined : (place) => recording.awaitedText(record.path, place),
    );
    if (!(rendering instanceof Promise)) return this.#finish(rendering, request, limit);
    // A text that never comes does not keep its run from ending.
    return untilAborted(rendering, { scope, clock: run.app.clock }).then((made) =>
      made === undefined ? undefined : this.#finish(made.value, request, limit),
    );
  }

  #finish(
    rendering: Rendering,
    request: PromptRequest,
    limit: number,
  ): PreparedCall | Promise<PreparedCall | undefined> {
    const { final, adjust } = request;
    const context = final ? finalAnswer(rendering.context) : rendering.context;
    if (adjust === undefined) return this.#encode({ ...rendering, context }, request, limit);
    return adjust(context).then((adjusted) =>
      adjusted === undefined
        ? undefined
        : this.#encode({ ...rendering, context: adjusted }, request, limit),
    );
  }

  #encode({ context, awaited }: Rendering, request: PromptRequest, limit: number): PreparedCall {
    const { ledger } = this.#parts.frame.run;
    const rendered = encodePrompt(context, this.#histories, awaited);
    const { renderers, agent } = this.#parts;
    if (ledger.ports.recording === undefined)
      reportMissingHistory(agent, ledger.ports.host, {
        messages: rendered.messages,
        histories: this.#histories,
        renderers,
      });
    const settings = this.#settingsFor(
      request,
      context.tools,
      request.final ? 'none' : context.toolChoice,
    );
    const recipe = writeRecipe(rendered, settings, limit, request.round, {
      previous: this.#previous(),
      isRecorded: (hash) => ledger.contents.has(hash),
    });
    this.#made = { segments: rendered.segments, after: ledger.lastSeq };
    this.#shown = context;
    const characters = rendered.characters + settings.characters;
    const { maxOutputTokens } = request;
    if (!rendered.hasOtherInput) markObjectInputs(rendered.messages);
    // Not part of the stored settings: the number may differ for each call, and `model_start`
    // records it.
    const options = {
      prompt: rendered.messages,
      ...settings.call,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    };
    return {
      options,
      recipe,
      characters,
      tokens: this.#tokensOf(request.model, rendered.messages, settings, characters),
    };
  }

  #tokensOf(
    model: Model,
    messages: readonly LanguageModelV4Message[],
    settings: Settings,
    characters: number,
  ): number {
    const counted = this.#tokens.of({
      model,
      messages,
      settings: () => JSON.stringify(settings.content),
      characters,
      window: this.windowOf(model),
      isReported: this.#gauge.isKnown,
    });
    if (counted === undefined) return this.#gauge.tokens(characters);
    this.#gauge.suppose(counted, characters);
    return counted;
  }

  /**
   * Returns the segments of the last recorded prompt. A prompt that was made and not sent does not
   * count.
   */
  #previous(): readonly RecipeSegment[] | undefined {
    const made = this.#made;
    if (made === undefined) return this.#recorded;
    const { events } = this.#parts.frame.record;
    for (let i = events.length - 1; i >= 0 && (events[i]?.seq ?? 0) > made.after; i--) {
      if (events[i]?.type === 'model_start') this.#recorded = made.segments;
    }
    return this.#recorded;
  }

  #settingsFor(
    { tools, model, responseFormat }: PromptRequest,
    names: readonly string[],
    toolChoice: ToolChoice | undefined,
  ): Settings {
    const choiceKey = typeof toolChoice === 'object' ? `=${toolChoice.name}` : (toolChoice ?? '');
    const key =
      `${this.#identity(model)} ` +
      `${this.#formatKey(responseFormat)}\n${names.join(' ')}\n${choiceKey}`;
    let settings = this.#settings.get(key);
    if (settings === undefined) {
      const offered = tools.filter(({ name }) => names.includes(name)).map(functionTool);
      const choice = offered.length === 0 ? undefined : wireChoice(toolChoice);
      const call = {
        ...(offered.length === 0 ? {} : { tools: offered }),
        ...(choice === undefined ? {} : { toolChoice: choice }),
        ...(responseFormat === undefined ? {} : { responseFormat }),
        ...withFormat(callSettings(model.settings), responseFormat),
      } as CallWithoutPrompt;
      const json = JSON.stringify(call);
      const content = JSON.parse(json) as JsonValue;
      settings = { hash: contentHash(content), content, call, characters: json.length };
      this.#settings.set(key, settings);
    }
    return settings;
  }

  #formatKey(format: PromptRequest['responseFormat']): string {
    if (format?.type !== 'json') return format?.type ?? '';
    const { schema, name, description } = format;
    return `json ${this.#identity(schema)} ${name ?? ''} ${description ?? ''}`;
  }

  /**
   * Returns a number for each object that settings are made of, so that contents need no comparison
   * for each call.
   */
  #identity(part: object | undefined): number {
    if (part === undefined) return 0;
    let identity = this.#identities.get(part);
    if (identity === undefined) {
      identity = this.#identities.size + 1;
      this.#identities.set(part, identity);
    }
    return identity;
  }
}

/**
 * State for the renderers of one prompt. It is a class because a literal with a getter is slow to
 * make.
 */
class RunRenderState implements RenderState {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  readonly startedAt: number;
  readonly usage = noUsage;
  readonly #run: RunContext;

  constructor(run: RunContext, agent: string, record: InvocationRecord, round: number) {
    this.#run = run;
    this.agent = agent;
    this.invocationId = record.path;
    this.round = round;
    this.startedAt = record.start.at;
  }

  /**
   * Visible values by scope. They are looked up only on request: most prompts do not depend on
   * state.
   */
  get state(): RenderState['state'] {
    const { ledger, session } = this.#run;
    const scopes: Record<string, Readonly<Record<string, unknown>>> = {
      session: visibleValues(ledger.state, 'session', this.invocationId),
    };
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
  return typeof choice === 'string'
    ? { type: choice }
    : { type: 'tool', toolName: toolWireName(choice.name) };
}
