import type { PlantedBug } from './bugs/planted-bug.ts';

/** Address of the source file that a bug is planted in. */
export function sourceUrl({ file }: PlantedBug): string {
  return new URL(`../../src/${file}`, import.meta.url).href;
}

/**
 * Returns the text of a source file with a bug in it.
 * @throws RangeError when the text to replace does not occur exactly once
 */
export function withBug({ file, find, name, replace }: PlantedBug, text: string): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new RangeError(
      `The bug "${name}" cannot be planted: its text occurs ${parts.length - 1} times in ${file}.`,
    );
  return parts.join(replace);
}
