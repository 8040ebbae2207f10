import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isFunction, isGroup, type OptionCheck, type OptionChecks } from '../base/options.ts';
import type { Model } from '../models/model.ts';
import type { Tool } from '../tools/tool.ts';

/** A model call that somebody else is to answer. */
export interface StandInModelCall {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  readonly attempt: number;
}

/** An execution of a tool that somebody else may carry out. */
export interface StandInToolCall {
  readonly agent: string;
  readonly callId: string;
  readonly name: string;
  /** The prepared arguments. */
  readonly args: unknown;
  /** Aborted when the time of the attempt is over, and when the run is cancelled or given back. */
  readonly signal: AbortSignal;
}

/**
 * What tests put in the place of the world outside. Everything around it is the runtime as it is.
 */
export interface StandIns {
  /** Gives the model that is asked in the place of an agent's own, which is not loaded then. */
  readonly model?: (model: Model, call: StandInModelCall) => LanguageModelV4;
  /**
   * Called in the place of a tool's `execute`; what it returns or throws counts as if the tool had
   * done so.
   */
  readonly tool?: (call: StandInToolCall, execute: () => unknown) => unknown;
}

const standInChecks: OptionChecks<StandIns> = { model: isFunction, tool: isFunction };

/** What the port `standIns` must be. */
export const isStandIns: OptionCheck = isGroup(standInChecks);

/** What a stand-in is told of a model call. */
export function standInCall({
  agent,
  path,
  round,
  attempt,
}: Omit<StandInModelCall, 'invocationId'> & { readonly path: string }): StandInModelCall {
  return { agent, invocationId: path, round, attempt };
}

/** The tool as it is run: by itself, or by what stands in for it. */
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
      const { callId, args, signal } = ctx;
      return run({ agent, callId, name: tool.name, args, signal }, () => tool.execute(ctx));
    },
  };
}
