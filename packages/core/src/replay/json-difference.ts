import { canonicalJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Difference } from './divergence.ts';

/** Differences that are listed of two values; what comes after is not read by anybody. */
const mostDifferences = 50;

/** Where two values differ, down to the parts that do. */
export function jsonDifferences(
  recorded: JsonValue | undefined,
  replayed: JsonValue | undefined,
): readonly Difference[] {
  const found: Difference[] = [];
  collect(recorded, replayed, '', found);
  return found;
}

export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}

function collect(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  path: string,
  found: Difference[],
): void {
  if (found.length >= mostDifferences || isSameJson(a, b)) return;
  if (Array.isArray(a) && Array.isArray(b) && !isMoved(a, b)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++)
      collect(a[i], b[i], `${path}[${i}]`, found);
  } else if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      collect(a[key], b[key], path === '' ? key : `${path}.${key}`, found);
  } else
    found.push({
      path,
      ...(a === undefined ? {} : { recorded: a }),
      ...(b === undefined ? {} : { replayed: b }),
    });
}

/** Whether two lists hold the same in another order: then the order is what differs. */
export function isMoved(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length || a.length > 500) return false;
  const sorted = (list: readonly JsonValue[]): string =>
    JSON.stringify(list.map((item) => canonicalJson(item)).sort());
  return sorted(a) === sorted(b);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
