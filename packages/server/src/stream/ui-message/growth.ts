/**
 * The pieces of a text that is being written, shared by all its states, and how many of them this
 * state has.
 */
export interface Growth {
  readonly pieces: string[];
  readonly count: number;
}

/** A text that has grown by one more piece. */
export function grown(before: Growth | undefined, piece: string): Growth {
  const { pieces = [], count = 0 } = before ?? {};
  // A state that others have gone on from already gets pieces of its own.
  const own = pieces.length === count ? pieces : pieces.slice(0, count);
  own.push(piece);
  return { pieces: own, count: count + 1 };
}

/**
 * Gives the text that was added between two states. To compare the texts would take as long as they
 * are, and for each piece of them again. Returns `undefined` when it is not known that one has
 * grown from the other.
 */
export function additionTo(
  before: Growth | undefined,
  after: Growth | undefined,
): string | undefined {
  if (
    before === undefined ||
    after === undefined ||
    before.pieces !== after.pieces ||
    before.count > after.count
  )
    return undefined;
  return after.pieces.slice(before.count, after.count).join('');
}
