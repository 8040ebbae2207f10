/**
 * Returns the lines of a text that was indented to stand in code: without the common indent, and
 * without empty lines around it.
 */
export function withoutMargin(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  while (lines[0] === '') lines.shift();
  while (lines.at(-1) === '') lines.pop();
  const margins = lines
    .filter((line) => line !== '')
    .map((line) => line.length - line.trimStart().length);
  const margin = margins.length === 0 ? 0 : Math.min(...margins);
  return lines.map((line) => line.slice(margin));
}

/**
 * Number of cells above which a table would take long: lines in the middle are then compared by
 * place.
 */
const mostCells = 4_000_000;

/**
 * Aligns the expected entries with the lines of a story, so that as many as possible fit. Returns
 * for each expected entry the index of the line that it fits. An entry that fits no line is
 * returned itself.
 */
export function alignStory<Entry extends string | object, Line>(
  entries: readonly Entry[],
  lines: readonly Line[],
  fits: (entry: Entry, line: Line) => boolean,
): readonly (number | Entry)[] {
  let start = 0;
  while (
    start < entries.length &&
    start < lines.length &&
    fits(entries[start] as Entry, lines[start] as Line)
  )
    start++;
  let end = 0;
  const shorter = Math.min(entries.length, lines.length) - start;
  while (end < shorter && fits(entries.at(-1 - end) as Entry, lines.at(-1 - end) as Line)) end++;
  const middle = entries.slice(start, entries.length - end);
  const between = lines.slice(start, lines.length - end);
  const aligned = alignMiddle(middle, between, fits).map((entry) =>
    typeof entry === 'number' ? entry + start : entry,
  );
  const tail = entries
    .slice(entries.length - end)
    .map((_entry, index) => lines.length - end + index);
  return [...entries.slice(0, start).map((_entry, index) => index), ...aligned, ...tail];
}

/** Aligns by the longest common subsequence. */
function alignMiddle<Entry extends string | object, Line>(
  entries: readonly Entry[],
  lines: readonly Line[],
  fits: (entry: Entry, line: Line) => boolean,
): readonly (number | Entry)[] {
  const width = lines.length + 1;
  if (entries.length * width > mostCells) {
    return entries.map((entry, index) =>
      index < lines.length && fits(entry, lines[index] as Line) ? index : entry,
    );
  }
  const isFit = entries.map((entry) => lines.map((line) => fits(entry, line)));
  const longest = new Uint32Array((entries.length + 1) * width);
  for (let row = entries.length - 1; row >= 0; row--) {
    for (let column = lines.length - 1; column >= 0; column--) {
      const below = longest[(row + 1) * width + column] as number;
      const right = longest[row * width + column + 1] as number;
      const both = (longest[(row + 1) * width + column + 1] as number) + 1;
      longest[row * width + column] = isFit[row]?.[column] === true ? both : Math.max(below, right);
    }
  }
  const aligned: (number | Entry)[] = [];
  for (let row = 0, column = 0; row < entries.length; ) {
    const isHere = column < lines.length && isFit[row]?.[column] === true;
    const below = longest[(row + 1) * width + column] as number;
    if (isHere) aligned.push(column++);
    else if (column < lines.length && (longest[row * width + column + 1] as number) > below) {
      column++;
      continue;
    } else aligned.push(entries[row] as Entry);
    row++;
  }
  return aligned;
}
