import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { EventDraft } from '../../../ledger/event.ts';
import type { BatchExtras } from '../../../ledger/ledger-writer.ts';
import type { Agent } from '../../../runnables/agent.ts';
import type { Hooks, Middleware } from '../../../runnables/hooks.ts';
import type { Renderer } from '../../../runnables/render-context.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { AgentHooks } from './agent-hooks.ts';
import { ErrorHandlers } from './error-handlers.ts';
import { HookCaller } from './hook-caller.ts';
import { type HookOrder, hookOrder } from './hook-order.ts';
import { HookWrites } from './hook-writes.ts';
import { ModelHooks } from './model-hooks.ts';
import { ToolHooks } from './tool-hooks.ts';
import { wrapped } from './wrapped-model.ts';

type HookName = keyof Hooks;

/** Hooks, middleware and error handlers of one agent invocation, in their order. */
export class HookPipeline {
  readonly agent: AgentHooks;
  readonly model: ModelHooks;
  readonly tool: ToolHooks;
  readonly errorHandlers: ErrorHandlers;
  readonly #middleware: readonly Middleware[];
  readonly #order: HookOrder;
  readonly #writes: HookWrites;

  private constructor(agent: Agent, frame: BodyFrame, round: () => number) {
    const { app } = frame.run;
    this.#middleware = [...app.middleware, ...agent.middleware];
    this.#order = hookOrder(agent, frame, this.#middleware);
    this.#writes = new HookWrites(frame);
    const caller = new HookCaller(agent, frame, this.#writes, round);
    this.agent = new AgentHooks(this.#order, caller, this.#writes);
    this.model = new ModelHooks(this.#order, caller, this.#writes);
    this.tool = new ToolHooks(this.#order, caller, this.#writes);
    this.errorHandlers = new ErrorHandlers([...app.errorHandlers, ...agent.errorHandlers], caller);
  }

  /**
   * Returns the pipeline of an agent; `undefined` when there are no hooks, middleware or handlers
   * to ask.
   */
  static of(agent: Agent, frame: BodyFrame, round: () => number): HookPipeline | undefined {
    const { hooks, middleware, errorHandlers } = frame.run.app;
    const own = [hooks, errorHandlers, agent.hooks, agent.errorHandlers].some(
      ({ length }) => length > 0,
    );
    return own || [...middleware, ...agent.middleware].some(concernsHooks)
      ? new HookPipeline(agent, frame, round)
      : undefined;
  }

  /** True when at least one owner has such a hook. */
  has(hook: HookName | 'beforeCall' | 'wrapModel'): boolean {
    return this.#order.inward.some(({ hooks }) => hooks[hook] !== undefined);
  }

  /** Renderers of the middleware. They run before those of the agent. */
  get renderers(): readonly Renderer[] {
    return this.#middleware.flatMap(({ context = [] }) => context);
  }

  wrap(model: LanguageModelV4): LanguageModelV4 {
    // The first middleware is the outermost: it wraps the models of all others.
    return this.#middleware.reduceRight((inner, middleware) => wrapped(middleware, inner), model);
  }

  /**
   * Takes the state changes and decisions of hooks, to be appended with the next events.
   * @param callId id of a tool call; decisions about other calls stay, and are appended with the
   * events of those
   */
  takeWrites(callId?: string): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  } {
    return this.#writes.take(callId);
  }
}

/** True when middleware has hooks: more than `name`, `onStream` and `around`. */
function concernsHooks({
  name: _name,
  onStream: _onStream,
  around: _around,
  ...rest
}: Middleware): boolean {
  return Object.values(rest).some((member) => member !== undefined);
}
