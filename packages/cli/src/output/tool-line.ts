import { isSuccess, type JsonValue, type ToolResult } from 'adjutant';
import { formatCount, formatDuration, shorten } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

const longestArgs = 100;
const longestResult = 120;
const longestPart = 60;

/** Text of a tool call, as `name {"its":"arguments"}`. */
export function describeCall(name: string, args: unknown): string {
  const text = plainLine(JSON.stringify(args) ?? '');
  const shown = text === '{}' || text === '' ? '' : ` ${shorten(text, longestArgs)}`;
  return `${plainLine(name)}${shown}`;
}

/**
 * Returns a short text of the result. Long lists and objects are replaced by their size, so that
 * small values, which say most, stay visible.
 */
function describeResult(result: ToolResult): string {
  const content = shorten(plainLine(contentText(result.content)), longestResult);
  if (result.status === 'success') return content;
  return content === '' ? result.status : `${result.status}: ${content}`;
}

function contentText(content: JsonValue): string {
  if (typeof content === 'string') return content;
  if (content === null || typeof content !== 'object' || Array.isArray(content))
    return partText(content);
  const parts = Object.entries(content).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${partText(value)}`],
  );
  return parts.join(', ');
}

function partText(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (text.length <= longestPart || value === null || typeof value !== 'object')
    return shorten(text, longestPart);
  return Array.isArray(value)
    ? formatCount(value.length, 'item')
    : formatCount(Object.keys(value).length, 'field');
}

/** Returns a tool call and its result on one line. */
export function toolLine(
  style: Style,
  call: { readonly name: string; readonly args: unknown },
  result: ToolResult | undefined,
  durationMs: number | undefined,
): string {
  const mark =
    result === undefined
      ? style.yellow('…')
      : isSuccess(result)
        ? style.green('✓')
        : style.red('✗');
  const duration =
    durationMs === undefined ? '' : ` ${style.dim(`(${formatDuration(durationMs)})`)}`;
  const outcome = result === undefined ? 'no result yet' : describeResult(result);
  return `${mark} ${describeCall(call.name, call.args)}${duration}\n  ${style.dim(`→ ${outcome}`)}`;
}
