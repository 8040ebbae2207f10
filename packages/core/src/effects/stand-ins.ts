import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isFunction, isGroup, type OptionCheck, type OptionChecks } from '../base/options.ts';
import type { Model } from '../models/model.ts';
import type { Recovery, Tool } from '../tools/tool.ts';
import type { EffectRequest } from './body-effect/ports.ts';

/** Model call for which a test provides the model. */
export interface StandInModelCall {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  readonly attempt: number;
}

/** Execution of a tool that a test may carry out. */
export interface StandInToolCall {
  readonly agent: string;
  readonly session: string;
  readonly callId: string;
  readonly name: string;
  readonly attempt: number;
  /** Equal for all attempts that may repeat the same effect. */
  readonly idempotencyKey: string;
  readonly recovery: Recovery;
  /** Epoch of the owner of the session. */
  readonly epoch: number;
  /** The prepared arguments. */
  readonly args: unknown;
  /** Aborted when the time of the attempt is over, and when the run is cancelled or released. */
  readonly signal: AbortSignal;
}

/** Attempt of an effect of a step or a tool that a test may carry out. */
export interface StandInEffectCall {
  readonly session: string;
  /** Id of the effect: the path of its body and its key. */
  readonly callId: string;
  readonly attempt: number;
  /** Equal for all attempts that may repeat the same effect. */
  readonly idempotencyKey: string;
  /** Aborted when the time of the attempt is over, and when the body or the run is stopped. */
  readonly signal: AbortSignal;
}

/**
 * Replacements for models, tools and effects in tests. Everything around them is the runtime as it
 * is.
 */
export interface StandIns {
  /** Returns the model that replaces an agent's own one, which is not loaded then. */
  readonly model?: (model: Model, call: StandInModelCall) => LanguageModelV4;
  /**
   * Called instead of the `execute` of a tool. Its result or exception counts as that of the tool.
   */
  readonly tool?: (call: StandInToolCall, execute: () => unknown) => unknown;
  /**
   * Called instead of the function of `ctx.effect`. Its result or exception counts as that of the
   * effect.
   */
  readonly effect?: (call: StandInEffectCall, run: () => unknown) => unknown;
}

const standInChecks: OptionChecks<StandIns> = {
  model: isFunction,
  tool: isFunction,
  effect: isFunction,
};

/** Check of the port `standIns`. */
export const isStandIns: OptionCheck = isGroup(standInChecks);

/** Returns the description of a model call that a stand-in gets. */
export function standInCall({
  agent,
  path,
  round,
  attempt,
}: Omit<StandInModelCall, 'invocationId'> & { readonly path: string }): StandInModelCall {
  return { agent, invocationId: path, round, attempt };
}

/** Returns the tool in the form in which it runs: with its own `execute`, or with its stand-in. */
export function standingIn(
  tool: Tool | undefined,
  agent: string,
  standIns: StandIns | undefined,
): Tool | undefined {
  const run = standIns?.tool;
  if (tool === undefined || run === undefined) return tool;
  return {
    ...tool,
    execute: (ctx) => {
      const { callId, attempt, epoch, idempotencyKey, args, signal } = ctx;
      const { name, recovery } = tool;
      const session = ctx.session.id;
      return run(
        { agent, session, callId, name, attempt, epoch, idempotencyKey, recovery, args, signal },
        () => tool.execute(ctx),
      );
    },
  };
}

/** Returns the effect in the form in which it runs: with its own function, or with its stand-in. */
export function effectStandingIn(
  request: EffectRequest,
  session: string,
  standIns: StandIns | undefined,
): EffectRequest {
  const perform = standIns?.effect;
  if (perform === undefined) return request;
  const { callId } = request;
  return {
    ...request,
    run: (ctx) => {
      const { attempt, idempotencyKey } = ctx;
      const call = {
        session,
        callId,
        attempt,
        idempotencyKey,
        get signal() {
          return ctx.signal;
        },
      };
      return perform(call, () => request.run(ctx));
    },
  };
}
