import { defined } from '../../../base/defined.ts';
import { canonicalJson } from '../../../base/json.ts';
import { differingPlaces } from '../../../replay/differing-places.ts';

/** A place at which two values differ. */
export interface ValueDifference {
  readonly path: string;
  /** The first value as text; missing where there is nothing. */
  readonly left?: string;
  /** The second value as text; missing where there is nothing. */
  readonly right?: string;
}

const longestText = 300;
const mostDifferences = 10;

/**
 * Returns the places at which two values of plain JSON differ, as deep as possible. A member that
 * is `undefined` counts as missing. Ends after ten places.
 */
export function differencesBetween(
  left: unknown,
  right: unknown,
  path = '',
): readonly ValueDifference[] {
  const rules = { most: mostDifferences, isSame: Object.is };
  return differingPlaces(left, right, rules, path).map((place) =>
    defined({ path: place.path, left: textOf(place.left), right: textOf(place.right) }),
  );
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = canonicalJson(value);
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}
