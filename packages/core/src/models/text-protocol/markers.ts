export type Marker = 'thought' | 'action' | 'observation' | 'answer';

/**
 * Signs before a marker and behind its word: models number and embellish them. Bounded, so that a
 * line is soon known not to be one.
 */
const lead = '^[ \\t]{0,8}[*#>_]{0,4}[ \\t]{0,4}';
const plainTail = '[ \\t]{0,2}\\d{0,2}[ \\t*_]{0,4}';
const words: readonly (readonly [marker: Marker, word: string, tail: string])[] = [
  ['thought', 'Thought', plainTail],
  ['action', 'Action', plainTail],
  ['observation', 'Observation', '[^\\n:]{0,60}'],
  ['answer', 'Final Answer', plainTail],
];

const whole = words.map(
  ([marker, word, tail]) => [marker, new RegExp(`${lead}${word}${tail}:`, 'i')] as const,
);
const beginning = new RegExp(
  `${lead}(?:$|${words.map(([, word, tail]) => beginningOf(word, tail)).join('|')})`,
  'i',
);

/**
 * A pattern for the word, any beginning of it, and the whole word with a beginning of its tail;
 * each up to the end.
 */
function beginningOf(word: string, tail: string): string {
  return [...word].reduceRight((rest, char) => `${char}(?:$|${rest})`, `${tail}$`);
}

/** The marker that a line begins with, and where its text begins; the colon has been seen. */
export function markerOf(
  line: string,
): { readonly marker: Marker; readonly end: number } | undefined {
  for (const [marker, pattern] of whole) {
    const found = pattern.exec(line);
    if (found !== null) return { marker, end: found[0].length };
  }
  return undefined;
}

/** True while a line that has just begun may still begin with a marker. */
export function mayBecomeMarker(line: string): boolean {
  return beginning.test(line);
}
