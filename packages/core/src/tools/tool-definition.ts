import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { BodyContext } from '../session/body-context.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import type { ToolCheck } from '../supervision/result-check.ts';
import type { ClassifyThrown } from './errors.ts';
import type { ApprovalOptions, PendingOperation, RequestOptions } from './request-options.ts';

/**
 * A schema library's schema: any Standard Schema that also gives JSON Schema (zod 4.2 and later
 * does).
 */
export type ToolSchema<Input = unknown, Output = unknown> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>;

/** What is done with a call that repeats one whose outcome is not known. */
export type OnRepeat = 'confirm' | 'refuse' | 'allow';

/** What a probe has found out about an attempt. */
export type ProbeResult =
  | { readonly happened: true /** What the call gives. */; readonly result?: unknown }
  | { readonly happened: false }
  | { readonly happened: 'unknown' /** What the model is told. */; readonly detail?: string };

/** What a probe works with: the call and the attempt in question. */
export interface ProbeContext<Args = unknown> {
  /** The prepared arguments. */
  readonly args: Args;
  readonly callId: string;
  readonly toolName: string;
  readonly attempt: number;
  /** The key that the attempt was made under. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Finds out whether an attempt took effect. What it throws leaves the outcome unknown. */
export type Probe<Args = unknown> = (ctx: ProbeContext<Args>) => ProbeResult | Promise<ProbeResult>;

/**
 * What is done with an attempt whose effect is not known, because the process died, the time was
 * over or the connection was lost: the model is told, it is run again, a person is asked, or a
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

export interface ToolRetry {
  /** Attempts in all. @default 3 */
  readonly maxAttempts?: number;
  /** Milliseconds before the second attempt. @default 1_000 */
  readonly initialDelayMs?: number;
  /** @default 2 */
  readonly backoffMultiplier?: number;
}

export interface ToolContext<
  Args = unknown,
  Schema extends StateSchema = StateSchema,
  Input = unknown,
> extends BodyContext<Schema> {
  readonly args: Args;
  /**
   * What somebody outside gave, for a tool with `yieldSchema`: its validated input. `undefined` in
   * `prepare`, and in what asks for it.
   */
  readonly input: Input;
  readonly callId: string;
  readonly toolName: string;
  /** Name of the agent that calls. */
  readonly agent: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * The same for every attempt whose effect might be that of an earlier one: hand it to services
   * that honour such keys.
   */
  readonly idempotencyKey: string;
  /** Grows with every owner of the session: a fencing token for services that take one. */
  readonly epoch: number;
  /**
   * Epoch milliseconds at which the attempt is given up; later once it has called a runnable,
   * unless the tool has a `timeout`.
   */
  readonly deadline: number | undefined;
  /** Streams a `tool_progress` event; nothing of it is stored. */
  progress(data: JsonValue): void;
}

/** What `finalize` sees: the context of the call, and what `execute` gave. */
export interface FinalizeContext<
  Args = unknown,
  Output = unknown,
  Schema extends StateSchema = StateSchema,
  Input = unknown,
> extends ToolContext<Args, Schema, Input> {
  /** The awaited result of `execute`. */
  readonly result: Output;
}

type ToolReturn<Output> = Output | ToolResult | Runnable | PendingOperation;

/**
 * Options of `tool`. `Args` comes from a library's schema; with plain JSON Schema it is
 * `JsonObject`, unless `execute` annotates its context.
 */
export interface ToolOptions<Args, Input, Output, Schema extends StateSchema, Given = unknown> {
  /**
   * What the model calls it by: letters, digits, `_` and `-`, with name spaces before dots; at most
   * 64 characters when each dot counts as two.
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
   * Changes with the meaning of the definition: what was asked about a call of another version is
   * asked again.
   */
  readonly version?: string;
  /**
   * Schema of what somebody outside must give before the call goes on:
   * `session.addToolInput(callId, input)`. Without `execute` what was given is the result; with it,
   * `execute` runs afterwards and finds it in `ctx.input`.
   */
  readonly yieldSchema?: ToolSchema<unknown, Given> | JsonObject;
  /** How the input is asked for. */
  readonly yieldOptions?: RequestOptions<Args, Schema>;
  /** Asks somebody before the tool runs. `true`: before every call. */
  readonly approval?: ApprovalOptions<Args, Schema> | true;
  /** Milliseconds for one attempt. @default 30_000 (120_000 for a tool that calls agents) */
  readonly timeout?: number;
  /**
   * Attempts after a failure that is known to have had no effect, or after any failure of a tool
   * that may be run again. They come before what the supervision of the agent does, which then does
   * not try again.
   * @default none; supervision tries again what may pass
   */
  readonly retry?: ToolRetry;
  /**
   * The tool that is run in the place of this one when it cannot do it: by its name, with the same
   * arguments, or with those that `args` makes of them. It is only run after a failure that is
   * known to have had no effect, or after one of a tool that may be run again. The result is that
   * of this tool's call.
   */
  readonly fallback?: string | ToolFallback<Args>;
  /** What the run must be allowed to do, such as 'fs:write': without it the tool is not run. */
  readonly requiresPermission?: readonly string[];
  /** How results that succeeded are looked at, besides what the name and the arguments tell. */
  readonly check?: ToolCheck<Args>;
  /**
   * Says what a thrown value means, before anything else does: a `ToolFailure`, whose message the
   * model reads, or a result made by `toolResult`. Nothing returned leaves it to what is known of
   * HTTP, system and parse errors.
   */
  readonly classify?: ClassifyThrown;
  /** @default 'rerun' with `readOnly` or `idempotent`, else 'report' */
  readonly recovery?: Recovery<Args>;
  /**
   * What is done with a call that has the arguments of an earlier one of which nobody knows whether
   * it took effect. It gets the idempotency key of that one; 'confirm' asks somebody first,
   * 'refuse' does not run it at all and tells the model to check. Without meaning for a tool that
   * may be run again.
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
   * Changes the validated arguments before they are used. Runs before the attempt is recorded, anew
   * for each one: what it throws refuses the call, without an attempt and without a retry. Its
   * context has the number and the key of the attempt that is to follow (a call that turns out to
   * repeat one whose outcome is not known gets the key of that one), and a deadline of its own, as
   * long as the tool's `timeout`. It may not begin children, and should change nothing outside:
   * nothing protects what it does from being done again.
   */
  readonly prepare?: (ctx: ToolContext<Args, Schema, undefined>) => Args | Promise<Args>;
  /**
   * Does the work. Returning a runnable hands the conversation over to it; returning `pending(…)`
   * says that the result comes later.
   * @default what was given for `yieldSchema`
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
  readonly timeout: number | undefined;
  /** Missing when the tool does not say how often it is tried. */
  readonly retry?: Required<ToolRetry>;
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
}
