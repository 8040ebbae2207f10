/**
 * Longer names are compared by their beginning. The input of a model or a user may have any length.
 */
const comparedLength = 100;

/**
 * Returns the candidate that is closest to `name`, or `undefined` when none is close. Case, `.`,
 * `_`, `-` and spaces are ignored, and a name space may be missing. Otherwise about every third
 * letter may be wrong, and at least one must be right.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = comparable(name);
  let nearest: string | undefined;
  let smallest = Math.min(Math.max(1, Math.floor(wanted.length / 3)), wanted.length - 1) + 1;
  for (const candidate of candidates) {
    const distance = Math.min(
      editDistance(wanted, comparable(candidate)),
      missingNamespace(wanted, candidate),
    );
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function comparable(name: string): string {
  return name
    .slice(0, comparedLength)
    .toLowerCase()
    .replace(/[\s._-]/g, '');
}

/** The distance to the part after the last dot, one more than if the name space had been given. */
function missingNamespace(wanted: string, candidate: string): number {
  const dot = candidate.lastIndexOf('.');
  return dot < 0
    ? Number.POSITIVE_INFINITY
    : editDistance(wanted, comparable(candidate.slice(dot + 1))) + 0.5;
}

/** The least number of letters to insert, delete, replace or swap with a neighbour. */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let least = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      if (
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      ) {
        least = Math.min(least, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
