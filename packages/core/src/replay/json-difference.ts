import { defined } from '../base/defined.ts';
import { canonicalJson, type JsonValue } from '../base/json.ts';
import { differingPlaces } from './differing-places.ts';
import type { Difference } from './divergence.ts';

/** Number of differences that are listed of two values. A reader needs no more. */
const mostDifferences = 50;

/** Returns the places at which two values differ, down to the parts that do. */
export function jsonDifferences(
  recorded: object | JsonValue | undefined,
  replayed: object | JsonValue | undefined,
): readonly Difference[] {
  return differingPlaces(recorded, replayed, {
    most: mostDifferences,
    isSame: (a, b) => isSameJson(a as JsonValue | undefined, b as JsonValue | undefined),
    isOneDifference: (a, b) => isMoved(a as readonly JsonValue[], b as readonly JsonValue[]),
  }).map(({ path, left, right }) =>
    defined({
      path,
      recorded: left as JsonValue | undefined,
      replayed: right as JsonValue | undefined,
    }),
  );
}

/** Checks that two values have the same canonical JSON. */
export function isSameJson(
  a: object | JsonValue | undefined,
  b: object | JsonValue | undefined,
): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}

/** True when two lists hold the same items in another order: the order is what differs. */
export function isMoved(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length || a.length > 500) return false;
  const sorted = (list: readonly JsonValue[]): string =>
    JSON.stringify(list.map((item) => canonicalJson(item)).sort());
  return sorted(a) === sorted(b);
}
