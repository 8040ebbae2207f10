import type { JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { ResultCheckOptions } from './options.ts';

/** How results of a tool are checked, besides what its name and its arguments tell. */
export interface ToolCheck {
  /** Whether an empty result is doubted. @default true for tools that only read */
  readonly empty?: boolean;
  /** Name of the argument with the words that are searched for. @default `query`, `q`, `search` or `keywords` of tools that only read */
  readonly query?: string;
  /** A doubt about a result that succeeded, as a sentence for the model; nothing when all is well. Pure: it looks at nothing but what it is given. */
  readonly validate?: (result: ToolResult, args: JsonValue) => string | undefined;
}

export interface CheckedCall {
  readonly name: string;
  readonly args: JsonValue;
  readonly readOnly: boolean;
  readonly check?: ToolCheck | undefined;
}

/** A result that is doubted. */
export interface ResultDoubt {
  /** The result with what the doubt makes of it. */
  readonly result: ToolResult;
  /** For the model. */
  readonly notes: readonly string[];
  /** For people. */
  readonly reasoning: string;
  /** Names of the checks that doubt it, such as `empty_result`. */
  readonly check: string;
}

/** Looks at a result that succeeded: whether it is what was asked for. Pure; `undefined` when nothing speaks against it. */
export function checkResult(_call: CheckedCall, _result: ToolResult, _options: Required<ResultCheckOptions>): ResultDoubt | undefined {
  return undefined;
}
