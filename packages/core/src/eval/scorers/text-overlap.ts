/** Words and numbers of a text, in lower case. */
function tokens(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Share of two texts that is the same. */
export interface Overlap {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/**
 * ROUGE-1 (Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004): words in common,
 * each counted at most as often as it occurs in both, over the words of the answer (precision) and
 * of the reference (recall); `f1` is 2·P·R / (P + R). Words are not reduced to their stems.
 */
export function tokenOverlap(answer: string, reference: string): Overlap {
  const [said, wanted] = [tokens(answer), tokens(reference)];
  if (said.length === 0 || wanted.length === 0) {
    const share = said.length === wanted.length ? 1 : 0;
    return { precision: share, recall: share, f1: share };
  }
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of said) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    common++;
    left.set(word, count - 1);
  }
  const [precision, recall] = [common / said.length, common / wanted.length];
  return {
    precision,
    recall,
    f1: common === 0 ? 0 : (2 * precision * recall) / (precision + recall),
  };
}
