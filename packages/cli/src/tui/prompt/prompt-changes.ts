import type { PromptPart } from './prompt-sections.ts';

/** Differences of a prompt to the one before it. */
export interface PromptChanges {
  /** Parts of this prompt that the one before did not have. */
  readonly added: ReadonlySet<PromptPart>;
  /** Parts of the one before that are gone, in their order. */
  readonly removed: readonly PromptPart[];
  /** Characters of the parts at the begin that are the same in both. */
  readonly keptCharacters: number;
}

/** Compares the parts of a prompt with those of the one before. */
export function promptChanges(
  before: readonly PromptPart[],
  now: readonly PromptPart[],
): PromptChanges {
  let kept = 0;
  while (kept < before.length && kept < now.length && before[kept]?.key === now[kept]?.key) kept++;
  const counts = new Map<string, number>();
  for (const { key } of before) counts.set(key, (counts.get(key) ?? 0) + 1);
  const added = new Set<PromptPart>();
  for (const part of now) {
    const count = counts.get(part.key) ?? 0;
    if (count === 0) added.add(part);
    else counts.set(part.key, count - 1);
  }
  // The rest of a part that came several times is the last of it.
  const removed: PromptPart[] = [];
  for (const part of before.toReversed()) {
    const count = counts.get(part.key) ?? 0;
    if (count === 0) continue;
    counts.set(part.key, count - 1);
    removed.unshift(part);
  }
  return { added, removed, keptCharacters: charactersOf(now.slice(0, kept)) };
}

export function charactersOf(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, { key }) => sum + key.length, 0);
}
