/** One line of a diff, with its numbers in the former text and in the new one. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
  /** The text ends here without a line break, and the other one does not. */
  readonly isUnended?: boolean;
}

/** Lines that changed, with some of those around them. */
export interface Hunk {
  readonly lines: readonly DiffLine[];
}

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

/** Changes beyond which two texts are shown as one replaced by the other. */
const mostChanges = 400;

/** Compares two texts line by line; `context` lines around a change are shown. */
export function diffTexts(before: string, after: string, context = 3): Diff {
  const [left, right] = [linesOf(before), linesOf(after)];
  const lines = numbered(edits(left, right));
  return {
    hunks: hunksOf(lines, context),
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  };
}

/** Lines with their breaks; a text whose lines all end with `\r\n` is as one with `\n`. */
function linesOf(text: string): string[] {
  const isWindows = text.includes('\r\n') && !/[^\r]\n|^\n/.test(text);
  const lines = (isWindows ? text.replaceAll('\r\n', '\n') : text).split(/(?<=\n)/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

interface Edit {
  readonly kind: DiffLine['kind'];
  readonly line: string;
}

function edits(left: readonly string[], right: readonly string[]): Edit[] {
  let start = 0;
  while (start < left.length && left[start] === right[start] && start < right.length) start++;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ kind: 'same', line }));
  return [
    ...same(left.slice(0, start)),
    ...shortest(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...same(left.slice(left.length - end)),
  ];
}

/** The shortest way from one list of lines to another one (Myers). */
function shortest(left: readonly string[], right: readonly string[]): Edit[] {
  const reached: Map<number, number>[] = [];
  let former = new Map<number, number>([[1, 0]]);
  const most = Math.min(left.length + right.length, mostChanges);
  for (let changes = 0; changes <= most; changes++) {
    const furthest = new Map<number, number>();
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const goesDown = isDown(former, diagonal, changes);
      let x = goesDown ? (former.get(diagonal + 1) ?? 0) : (former.get(diagonal - 1) ?? 0) + 1;
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x++;
      furthest.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length)
        return wayBack([...reached, former], left, right);
    }
    reached.push(former);
    former = furthest;
  }
  return [
    ...left.map((line): Edit => ({ kind: 'removed', line })),
    ...right.map((line): Edit => ({ kind: 'added', line })),
  ];
}

function isDown(former: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true;
  if (diagonal === changes) return false;
  return (former.get(diagonal - 1) ?? 0) < (former.get(diagonal + 1) ?? 0);
}

/** Follows the furthest places back from the ends of both lists to their begins. */
function wayBack(
  reached: readonly ReadonlyMap<number, number>[],
  left: readonly string[],
  right: readonly string[],
): Edit[] {
  const way: Edit[] = [];
  let x = left.length;
  let y = right.length;
  const goBackTo = (start: number): void => {
    for (; x > start; y--) way.push({ kind: 'same', line: left[--x] as string });
  };
  for (let changes = reached.length - 1; changes > 0; changes--) {
    const former = reached[changes] as ReadonlyMap<number, number>;
    const goesDown = isDown(former, x - y, changes);
    const fromX = former.get(x - y + (goesDown ? 1 : -1)) ?? 0;
    goBackTo(goesDown ? fromX : fromX + 1);
    if (goesDown) way.push({ kind: 'added', line: right[--y] as string });
    else way.push({ kind: 'removed', line: left[--x] as string });
  }
  goBackTo(0);
  return way.reverse();
}

function numbered(way: readonly Edit[]): DiffLine[] {
  let before = 1;
  let after = 1;
  return way.map(({ kind, line }) => ({
    kind,
    text: line.replace(/\n$/, ''),
    ...(kind === 'added' ? {} : { before: before++ }),
    ...(kind === 'removed' ? {} : { after: after++ }),
    ...(kind !== 'same' && !line.endsWith('\n') ? { isUnended: true } : {}),
  }));
}

/** Parts the lines of a diff: changes and what is near them stay. */
function hunksOf(lines: readonly DiffLine[], context: number): Hunk[] {
  const isNear = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - context), at + context + 1);
  const hunks: DiffLine[][] = [];
  for (const [at, line] of lines.entries()) {
    if (isNear[at] !== 1) continue;
    if (isNear[at - 1] !== 1) hunks.push([]);
    hunks.at(-1)?.push(line);
  }
  return hunks.map((hunk) => ({ lines: hunk }));
}
