/** A place in the history that a search found. */
export interface Found {
  readonly place: number;
  readonly text: string;
}

/**
 * Searches the history backwards, from the newest entry or from the former match. Small letters of
 * the words match capitals, too. An entry with the text of the former match is passed over.
 */
export function searchHistory(
  entries: readonly string[],
  words: string,
  former?: Found,
): Found | undefined {
  if (words === '') return undefined;
  const ignoresCase = words === words.toLowerCase();
  for (
    let place = Math.min(former?.place ?? entries.length, entries.length) - 1;
    place >= 0;
    place--
  ) {
    const text = entries[place] as string;
    const searched = ignoresCase ? text.toLowerCase() : text;
    if (text !== former?.text && searched.includes(words)) return { place, text };
  }
  return undefined;
}
