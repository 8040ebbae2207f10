import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject } from '../base/json.ts';
import type { RetryOptions } from '../base/retry-options.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import type { ToolCheck } from '../supervision/result-check.ts';
import type { ClassifyThrown } from './errors.ts';
import type { ApprovalOptions, PendingOperation, RequestOptions } from './request-options.ts';
import type { FinalizeContext, ProbeContext, ToolContext } from './tool-context.ts';

/**
 * A schema library's schema: any Standard Schema that also gives JSON Schema (zod 4.2 and later
 * does).
 */
export type ToolSchema<Input = unknown, Output = unknown> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>;

/** The treatment of a call that repeats one of unknown outcome. */
export type OnRepeat = 'confirm' | 'refuse' | 'allow';

/** The answer of a probe about an attempt. */
export type ProbeResult =
  | { readonly happened: true /** What the call gives. */; readonly result?: unknown }
  | { readonly happened: false }
  | { readonly happened: 'unknown' /** What the model is told. */; readonly detail?: string };

/** Finds out if an attempt took effect. An error leaves the outcome unknown. */
export type Probe<Args = unknown> = (ctx: ProbeContext<Args>) => ProbeResult | Promise<ProbeResult>;

/**
 * The treatment of an attempt of unknown effect, because the process died, the time was over or the
 * connection was lost. It is reported to the model, the tool runs again, a person is asked, or a
 * function finds out.
 */
export type Recovery<Args = unknown> = 'report' | 'rerun' | 'ask' | Probe<Args>;

/** The tool that is run in the place of another one. */
export interface ToolFallback<Args = unknown> {
  readonly tool: string;
  /**
   * Makes the arguments of the other tool. Pure: after a stop it is called again. @default the same
   * arguments
   */
  readonly args?: (args: Args) => unknown;
}

type ToolReturn<Output> = Output | ToolResult | Runnable | PendingOperation;

/**
 * Options of `tool`. `Args` comes from a library's schema; with plain JSON Schema it is
 * `JsonObject`, unless `execute` annotates its context.
 */
export interface ToolOptions<Args, Input, Output, Schema extends StateSchema, Given = unknown> {
  /**
   * The name that the model uses: letters, digits, `_` and `-`, with name spaces before dots; at
   * most 64 characters when each dot counts as two.
   */
  readonly name: string;
  readonly description: string;
  /**
   * Schema of the arguments, which are an object: zod 4.2 or later, another Standard Schema that
   * gives JSON Schema, or JSON Schema itself.
   */
  readonly schema: ToolSchema<Input, Args> | JsonObject;
  /**
   * Schema of the result, checked before the model sees it; a result that does not fit is a failed
   * call, which is not tried again.
   */
  readonly outputSchema?: StandardSchemaV1<unknown, Output> | JsonObject;
  /** Types the state that the tool uses, and checks what it writes. */
  readonly stateSchema?: Schema;
  /**
   * Changes with the meaning of the definition: requests about calls of another version are made
   * again.
   */
  readonly version?: string;
  /**
   * Schema of the input that a person or another process must give before the call goes on:
   * `session.addToolInput(callId, input)`. Without `execute` the input is the result. With it,
   * `execute` runs afterwards and finds the input in `ctx.input`.
   */
  readonly yieldSchema?: ToolSchema<unknown, Given> | JsonObject;
  /** Options of the request for the input. */
  readonly yieldOptions?: RequestOptions<Args, Schema>;
  /** Asks a person before the tool runs. `true`: before every call. */
  readonly approval?: ApprovalOptions<Args, Schema> | true;
  /**
   * Milliseconds for one attempt.
   * @default `defaults.toolTimeoutMs` of the runtime, else 30_000; for a tool that calls agents
   * `defaults.agentCallTimeoutMs`, else 120_000
   */
  readonly timeoutMs?: number;
  /**
   * Attempts after a failure that is known to have had no effect, or after any failure of a tool
   * that may be run again. They come before the supervision of the agent, which then does not try
   * again.
   * @default none; supervision tries again after failures that may pass
   */
  readonly retry?: RetryOptions;
  /**
   * The tool that is run in the place of this one when it cannot do it: by its name, with the same
   * arguments, or with those that `args` makes of them. It is run when attempts are used up and
   * before the model is told of the failure, but only after a failure that is known to have had no
   * effect, or after one of a tool that may be run again. The result is that of this tool's call.
   */
  readonly fallback?: string | ToolFallback<Args>;
  /** Permissions that the run needs, such as 'fs:write': without them the tool is not run. */
  readonly requiresPermission?: readonly string[];
  /** Checks of successful results, besides those by name and arguments. */
  readonly check?: ToolCheck<Args>;
  /**
   * Classifies a thrown value, before anything else does: a `ToolFailure`, whose message the model
   * reads, or a result made by `toolResult`. When it returns nothing, HTTP, system and parse errors
   * are recognized.
   */
  readonly classify?: ClassifyThrown;
  /** @default 'rerun' with `readOnly` or `idempotent`, else 'report' */
  readonly recovery?: Recovery<Args>;
  /**
   * The treatment of a call with the arguments of an earlier one of unknown outcome. It gets the
   * idempotency key of that one. 'confirm' asks a person first, 'refuse' does not run it and lets
   * the model check. Without meaning for a tool that may be run again.
   * @default 'confirm' for a tool that itself says `recovery: 'report'`, `recovery: 'ask'` or
   * `destructive: true`, else 'allow'
   */
  readonly onRepeat?: OnRepeat;
  /** The tool changes nothing outside. */
  readonly readOnly?: boolean;
  /** Doing it twice with the same arguments is doing it once. */
  readonly idempotent?: boolean;
  /** The tool may destroy something. */
  readonly destructive?: boolean;
  /**
   * Changes the validated arguments before they are used. Runs before the attempt is recorded,
   * again for each one. An error refuses the call, without an attempt and without a retry. Its
   * context has the number and the key of the attempt that follows. A call that turns out to repeat
   * one of unknown outcome gets the key of that one. The deadline is its own, as long as the tool's
   * `timeoutMs`. It may not begin children, and should change nothing outside: nothing protects its
   * effects from being repeated.
   */
  readonly prepare?: (ctx: ToolContext<Args, Schema, undefined>) => Args | Promise<Args>;
  /**
   * Does the work. Returning a runnable is a handoff of the conversation to it; returning
   * `pending(…)` announces a later result.
   * @default the input that was given for `yieldSchema`
   */
  readonly execute?: (
    ctx: ToolContext<Args, Schema, Given>,
  ) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
  /**
   * Changes the result before it is recorded. Not called when `execute` gave a `ToolResult` or a
   * runnable: these are final. When it throws, the call has failed and is not tried again: the tool
   * has done its work.
   */
  readonly finalize?: (ctx: FinalizeContext<Args, Output, Schema, Given>) => unknown;
}

/** A frozen tool definition. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model is shown it. */
  readonly inputSchema: JsonObject;
  readonly schema: ToolSchema | JsonObject;
  readonly outputSchema?: StandardSchemaV1 | JsonObject;
  readonly stateSchema?: StateSchema;
  readonly version?: string;
  readonly yieldSchema?: ToolSchema | JsonObject;
  /** JSON Schema of the input, as people are shown it. */
  readonly yieldInputSchema?: JsonObject;
  readonly yieldOptions?: RequestOptions;
  readonly approval?: ApprovalOptions;
  readonly timeoutMs: number | undefined;
  /** Missing when the tool does not say how often it is tried. */
  readonly retry?: Required<RetryOptions>;
  readonly fallback?: ToolFallback;
  readonly requiresPermission: readonly string[];
  readonly check?: ToolCheck;
  readonly classify?: ClassifyThrown;
  readonly recovery: Recovery;
  readonly onRepeat: OnRepeat;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  readonly prepare?: (ctx: ToolContext) => unknown;
  readonly execute: (ctx: ToolContext) => unknown;
  readonly finalize?: (ctx: FinalizeContext) => unknown;
  /** Of the tools that `handoffs` of an agent makes. */
  readonly handoff?: { readonly back: boolean };
}
