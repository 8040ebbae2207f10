import { coerceToJson, deepFreeze, isPlainObject, type JsonObject } from '../base/json.ts';
import type { ToolResult, ToolResultStatus } from '../ledger/tool-result.ts';

/** The members that a tool can add to its result besides the content. */
export type ToolResultDetails = Omit<ToolResult, 'status' | 'content'>;

type MakeToolResult = (content: unknown, details?: ToolResultDetails) => ToolResult;

const made = new WeakSet<object>();

const memberChecks: {
  readonly [Member in keyof Required<ToolResult>]: (value: unknown) => boolean;
} = {
  status: (value) => typeof value === 'string' && Object.hasOwn(toolResultByStatus, value),
  content: () => true,
  errorType: isText,
  detail: isText,
  alternatives: (value) => Array.isArray(value) && value.every(isText),
  confidence: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  escalation: isText,
  escalate: (value) => typeof value === 'boolean',
  final: (value) => typeof value === 'boolean',
  metadata: isPlainObject,
};

const toolResultByStatus: { readonly [Status in ToolResultStatus]: MakeToolResult } = {
  success: maker('success'),
  partial: maker('partial'),
  error_transient: maker('error_transient', 'tool_error'),
  error_permanent: maker('error_permanent', 'tool_error'),
  error_blocked: maker('error_blocked', 'blocked'),
  timeout: maker('timeout', 'timeout'),
  unknown: maker('unknown', 'unknown_outcome'),
};

/**
 * Makes the results of tools that have more to say than a plain return value, which is a `success`.
 * Content that is not JSON is replaced by its string form, and `metadata.coerced` lists where.
 */
export const toolResult: {
  readonly success: MakeToolResult;
  /** A part was achieved: `detail` or the content names the missing rest. */
  readonly partial: MakeToolResult;
  /** It failed and may succeed later. */
  readonly transient: MakeToolResult;
  /** It failed, and the same call will fail again. */
  readonly permanent: MakeToolResult;
  /** It was refused: not allowed here. */
  readonly blocked: MakeToolResult;
  readonly timeout: MakeToolResult;
  /** The call may have had an effect or not. */
  readonly unknown: MakeToolResult;
} = Object.freeze({
  success: toolResultByStatus.success,
  partial: toolResultByStatus.partial,
  transient: toolResultByStatus.error_transient,
  permanent: toolResultByStatus.error_permanent,
  blocked: toolResultByStatus.error_blocked,
  timeout: toolResultByStatus.timeout,
  unknown: toolResultByStatus.unknown,
});

/**
 * Returns a tool's return value as a `ToolResult`. A result of its own is kept, any other value is
 * the content of a `success`. An object counts as a `ToolResult` when `toolResult` made it, or when
 * it has a known `status`, a `content` and no member that a `ToolResult` has not. Never throws: an
 * effect that was performed does not fail because of its return value.
 */
export function toToolResult(returned: unknown): ToolResult {
  if (returned === undefined || returned === null) return make('success', null);
  if (typeof returned !== 'object') return make('success', returned);
  if (made.has(returned)) return returned as ToolResult;
  if (!looksLikeToolResult(returned)) return make('success', returned);
  const { status, content, ...details } = returned;
  return toolResultByStatus[status](content, details);
}

/** True when `toToolResult` keeps a value as a `ToolResult` that the tool made itself. */
export function isToolResult(value: unknown): value is ToolResult {
  return (
    typeof value === 'object' && value !== null && (made.has(value) || looksLikeToolResult(value))
  );
}

/** Makes a result of a status that is only known when it is made. */
export function toolResultWith(
  status: ToolResultStatus,
  content: unknown,
  details?: ToolResultDetails,
): ToolResult {
  return toolResultByStatus[status](content, details);
}

function looksLikeToolResult(value: object): value is ToolResult {
  try {
    if (
      !isPlainObject(value) ||
      !Object.hasOwn(value, 'status') ||
      !Object.hasOwn(value, 'content')
    )
      return false;
    return Reflect.ownKeys(value).every(
      (key) => isMember(key) && (value[key] === undefined || memberChecks[key](value[key])),
    );
  } catch {
    return false;
  }
}

function isMember(key: PropertyKey): key is keyof ToolResult {
  return Object.hasOwn(memberChecks, key);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function maker(status: ToolResultStatus, errorType?: string): MakeToolResult {
  return (content, details) => {
    const result = make(status, content, details, errorType);
    made.add(result);
    return result;
  };
}

/**
 * Plain results, which are nearly all, are not remembered: a long-lived entry for each would weigh
 * on every garbage collection.
 */
function make(
  status: ToolResultStatus,
  content: unknown,
  details?: ToolResultDetails,
  errorType?: string,
): ToolResult {
  const json = safelyToJson(content);
  const metadata = metadataOf(details?.metadata, json.coerced);
  if (errorType === undefined && details === undefined && metadata === undefined)
    return deepFreeze({ status, content: json.value });
  return deepFreeze({
    status,
    content: json.value,
    ...(errorType === undefined ? undefined : { errorType }),
    ...(details === undefined ? undefined : givenMembers(details)),
    ...(metadata === undefined ? undefined : { metadata }),
  });
}

function givenMembers(details: ToolResultDetails): ToolResultDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

function metadataOf(
  given: JsonObject | undefined,
  coerced: readonly string[],
): JsonObject | undefined {
  if (given === undefined) return coerced.length === 0 ? undefined : { coerced };
  const json = safelyToJson(given);
  const paths = [...coerced, ...json.coerced.map((path) => `$metadata${path.slice(1)}`)];
  const metadata = isPlainObject(json.value) ? (json.value as JsonObject) : { value: json.value };
  return paths.length === 0 ? metadata : { ...metadata, coerced: paths };
}

/**
 * Calls `coerceToJson`, also for values that throw when they are read or are nested too deep for
 * the stack.
 */
function safelyToJson(value: unknown): ReturnType<typeof coerceToJson> {
  try {
    return coerceToJson(value);
  } catch (thrown) {
    return {
      value:
        '[a value that cannot be read: ' +
        `${thrown instanceof Error ? thrown.message : typeof thrown}]`,
      coerced: ['$'],
    };
  }
}
