/** A place at which two JSON values differ. A side that has nothing there is `undefined`. */
export interface DifferingPlace {
  /** Keys and indexes that lead to the place: `prompt[0].content`. */
  readonly path: string;
  readonly left: unknown;
  readonly right: unknown;
}

/** Rules by which two JSON values are compared. */
export interface DifferenceRules {
  /** Number of places after which the comparison ends. */
  readonly most: number;
  /** Checks that two values need not be looked into, because they are the same. */
  readonly isSame: (left: unknown, right: unknown) => boolean;
  /** Checks that two lists differ as a whole, so that their items are not compared. */
  readonly isOneDifference?: (left: readonly unknown[], right: readonly unknown[]) => boolean;
}

/** Returns the places at which two JSON values differ, as deep in them as possible. */
export function differingPlaces(
  left: unknown,
  right: unknown,
  rules: DifferenceRules,
  path = '',
): readonly DifferingPlace[] {
  const found: DifferingPlace[] = [];
  collect({ path, left, right }, rules, found);
  return found;
}

function collect(place: DifferingPlace, rules: DifferenceRules, found: DifferingPlace[]): void {
  const { path, left, right } = place;
  if (found.length >= rules.most || rules.isSame(left, right)) return;
  if (!hasComparableParts(left, right, rules)) {
    found.push(place);
    return;
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right as object)])) {
    const inner = Array.isArray(left) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    collect({ path: inner, left: partOf(left, key), right: partOf(right, key) }, rules, found);
  }
}

function hasComparableParts(
  left: unknown,
  right: unknown,
  { isOneDifference }: DifferenceRules,
): left is object {
  if (!isContainer(left) || !isContainer(right)) return false;
  if (!Array.isArray(left)) return !Array.isArray(right);
  return Array.isArray(right) && isOneDifference?.(left, right) !== true;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function partOf(container: unknown, key: string): unknown {
  return (container as Readonly<Record<string, unknown>>)[key];
}
