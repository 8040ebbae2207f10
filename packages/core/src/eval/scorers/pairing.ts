/** One of the left with one of the right, by their places. */
export interface Pairing {
  readonly left: number;
  readonly right: number;
}

type Fits = (left: number, right: number) => boolean;

/**
 * As many pairs as possible that fit and keep the order of both sides: a longest common
 * subsequence.
 */
export function inOrderPairs(left: number, right: number, fits: Fits): readonly Pairing[] {
  const longest: number[][] = Array.from({ length: left + 1 }, () =>
    new Array<number>(right + 1).fill(0),
  );
  const fitting: boolean[][] = Array.from({ length: left }, (_, i) =>
    Array.from({ length: right }, (_, j) => fits(i, j)),
  );
  const at = (i: number, j: number): number => longest[i]?.[j] ?? 0;
  for (let i = left - 1; i >= 0; i--) {
    for (let j = right - 1; j >= 0; j--) {
      const row = longest[i] as number[];
      row[j] =
        fitting[i]?.[j] === true ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Pairing[] = [];
  for (let i = 0, j = 0; i < left && j < right; ) {
    if (fitting[i]?.[j] === true) pairs.push({ left: i++, right: j++ });
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/**
 * As many pairs as possible that fit, in any order: a largest matching. One that fits several must
 * not take the place of one that fits only there.
 */
export function mostPairs(left: number, right: number, fits: Fits): readonly Pairing[] {
  const holder = new Map<number, number>();
  const seat = (one: number, tried: Set<number>): boolean => {
    for (let place = 0; place < right; place++) {
      if (tried.has(place) || !fits(one, place)) continue;
      tried.add(place);
      const before = holder.get(place);
      if (before !== undefined && !seat(before, tried)) continue;
      holder.set(place, one);
      return true;
    }
    return false;
  };
  for (let one = 0; one < left; one++) seat(one, new Set());
  return [...holder].map(([place, one]) => ({ left: one, right: place }));
}
