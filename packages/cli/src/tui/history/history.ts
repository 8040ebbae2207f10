import { join } from 'node:path';
import type { Clock } from 'adjutant/ports';
import { withFileLock } from './file-lock.ts';
import {
  appendPrivate,
  fileNameFor,
  makeFolder,
  readPrivate,
  writePrivate,
} from './private-file.ts';

/** Entries that the history of a project keeps. */
export const mostEntries = 2_000;
/** Characters of an entry beyond which it is not kept: nobody looks for it by its words. */
const longestEntry = 100_000;

/** Returns the file of the history of a project, which is named by its folder. */
export function historyPath(dataFolder: string, project: string): string {
  return join(dataFolder, 'history', `${fileNameFor(project)}.jsonl`);
}

/** Checks whether a text is kept: one that begins with a blank is not, as in shells. */
function isKept(text: string): boolean {
  return text !== '' && !/^\s/.test(text) && text.length <= longestEntry;
}

/** Returns the texts that were sent from a project, oldest first. */
export async function readHistory(path: string): Promise<string[]> {
  return entriesOf(await readPrivate(path));
}

/**
 * Appends a text to the history. Returns false when it is not kept, or when other processes hold
 * the file.
 */
export async function appendHistory(path: string, text: string, clock: Clock): Promise<boolean> {
  if (!isKept(text)) return false;
  await makeFolder(path);
  const kept = await withFileLock(path, clock, async () => {
    const stored = await readPrivate(path);
    const entries = entriesOf(stored);
    if (entries.at(-1) === text) return true;
    // A process may have ended in the middle of a line.
    const isWhole = stored === '' || stored.endsWith('\n');
    if (isWhole && entries.length < mostEntries) await appendPrivate(path, lineOf(text));
    else await writePrivate(path, [...entries, text].slice(-mostEntries).map(lineOf).join(''));
    return true;
  });
  return kept ?? false;
}

function lineOf(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

/** Texts of the lines that can be read. */
function entriesOf(stored: string): string[] {
  return stored
    .split('\n')
    .flatMap((line) => {
      try {
        const text: unknown = JSON.parse(line);
        return typeof text === 'string' ? [text] : [];
      } catch {
        return [];
      }
    })
    .slice(-mostEntries);
}
