import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ToolEffect, ToolResult } from '../tool-result.ts';
import type { Envelope } from './envelope.ts';
import type { NextInvocation } from './invocation-events.ts';

export interface ToolCallEvent extends Envelope<'tool_call'> {
  /** Path of the call: `<invocation>/r<round>.<index>`. */
  readonly callId: string;
  readonly agent: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly providerCallId: string;
  readonly round: number;
  readonly index: number;
  /** Reason why the arguments are not valid JSON; `args` is then the text as it came. */
  readonly invalid?: string;
  readonly providerMetadata?: JsonObject;
}

export interface ToolAttemptEvent extends Envelope<'tool_attempt'> {
  readonly callId: string;
  readonly attempt: number;
  /** Idempotency key for the systems that the tool calls. */
  readonly key: string;
  /** Epoch milliseconds at which the attempt is abandoned. */
  readonly deadline?: number;
  readonly epoch: number;
  /**
   * Hash of the tool and its prepared arguments. Missing for a tool that may run again with the
   * arguments of the model, unless a person was asked.
   */
  readonly fingerprint?: string;
  /** The tool that runs instead of the one that the model asked for. */
  readonly tool?: string;
}

export interface ToolResultEvent extends Envelope<'tool_result'> {
  readonly callId: string;
  readonly name: string;
  /** 0 when the call was refused before any attempt. */
  readonly attempt: number;
  readonly result: ToolResult;
  /** Known outside effect of an attempt that did not succeed. */
  readonly effect?: ToolEffect;
  /** True for the one result of the call that counts. */
  readonly settled: boolean;
  /** True when the attempt ended after its call had been settled. */
  readonly late?: boolean;
  /** Milliseconds for which the tool ran. */
  readonly durationMs: number;
  /** Version of the tool that ran, when its definition has one. */
  readonly toolVersion?: string;
  /** Milliseconds after which another attempt is made; only on unsettled results. */
  readonly retryAfterMs?: number;
  /** Target of the handoff that the tool made. */
  readonly next?: NextInvocation;
  /** Arguments of a person, which replaced those of the model. */
  readonly editedArgs?: JsonValue;
  /** Hints, warnings and doubts that supervision adds to the result for the model. */
  readonly notes?: readonly string[];
  /** Tool of the next attempt of the call; only on unsettled results. */
  readonly fallback?: string;
}
