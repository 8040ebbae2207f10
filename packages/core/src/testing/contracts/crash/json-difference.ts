import { canonicalJson } from '../../../base/json.ts';

/** A place at which two values differ. */
export interface ValueDifference {
  readonly path: string;
  /** As text; missing where there is nothing. */
  readonly left?: string;
  readonly right?: string;
}

const longestText = 300;
const mostDifferences = 10;

/**
 * Where two values of plain JSON differ, as deep as possible; `undefined` is as good as missing.
 * Ends after ten places.
 */
export function differencesBetween(
  left: unknown,
  right: unknown,
  path = '',
): readonly ValueDifference[] {
  const found: ValueDifference[] = [];
  compare(left, right, path, found);
  return found;
}

function compare(left: unknown, right: unknown, path: string, found: ValueDifference[]): void {
  if (found.length >= mostDifferences || Object.is(left, right)) return;
  if (isContainer(left) && isContainer(right) && Array.isArray(left) === Array.isArray(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const inner = Array.isArray(left) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      compare(
        (left as Readonly<Record<string, unknown>>)[key],
        (right as Readonly<Record<string, unknown>>)[key],
        inner,
        found,
      );
    }
    return;
  }
  found.push({ path, ...textOf('left', left), ...textOf('right', right) });
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function textOf(side: 'left' | 'right', value: unknown): Partial<ValueDifference> {
  if (value === undefined) return {};
  const text = canonicalJson(value);
  return { [side]: text.length <= longestText ? text : `${text.slice(0, longestText)}…` };
}
