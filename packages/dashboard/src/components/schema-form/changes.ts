import { isFields, pathTo } from './shapes.ts';

/** A part of a value that was changed, added (no `before`) or taken away (no `after`). */
export interface Change {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Finds what an edit has changed, part by part. Lists of another length count as one part: which
 * item has gone is not known.
 */
export function changesOf(before: unknown, after: unknown, path = ''): readonly Change[] {
  if (Object.is(before, after)) return [];
  if (isFields(before) && isFields(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      changesOf(memberOf(before, name), memberOf(after, name), pathTo(path, name)),
    );
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, i) => changesOf(item, after[i], pathTo(path, i)));
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ];
}

function memberOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A text beside the one before: what both begin and end with, and what stands between. */
export interface TextChange {
  readonly start: string;
  readonly removed: string;
  readonly added: string;
  readonly end: string;
}

/** Finds the part of a text that was changed, by whole words. */
export function textChange(before: string, after: string): TextChange {
  const olds = wordsOf(before);
  const news = wordsOf(after);
  let first = 0;
  while (first < olds.length && olds[first] === news[first]) first++;
  let last = 0;
  const most = Math.min(olds.length, news.length) - first;
  while (last < most && olds.at(-1 - last) === news.at(-1 - last)) last++;
  return {
    start: olds.slice(0, first).join(''),
    removed: olds.slice(first, olds.length - last).join(''),
    added: news.slice(first, news.length - last).join(''),
    end: last === 0 ? '' : olds.slice(-last).join(''),
  };
}

/** Words with the space behind them, so that they can be put together again. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|[^\s]+/gu) ?? [];
}
