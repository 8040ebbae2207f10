import type { JsonValue } from 'adjutant';
import { type Diff, diffTexts } from './diff.ts';

/** Edit of a file that the arguments of a call describe. */
export interface FileEdit {
  readonly path: string;
  /** Text that is replaced; `undefined`: the file is written whole. */
  readonly old: string | undefined;
  readonly new: string;
  readonly isEverywhere: boolean;
}

/** Names of arguments by which tools and MCP servers describe edits. */
const names = {
  path: ['path', 'file', 'filePath', 'file_path', 'filename'],
  old: ['old', 'oldText', 'old_text', 'oldString', 'old_string', 'old_str', 'search', 'find'],
  new: [
    'new',
    'newText',
    'new_text',
    'newString',
    'new_string',
    'new_str',
    'replace',
    'replacement',
  ],
  whole: ['content', 'contents', 'text'],
  everywhere: ['all', 'replaceAll', 'replace_all'],
} as const;

/** Returns the edit that the arguments of a call describe; `undefined`: they describe none. */
export function editOf(args: JsonValue): FileEdit | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const given: ReadonlyMap<string, JsonValue | undefined> = new Map(Object.entries(args));
  const text = (list: readonly string[]): string | undefined =>
    list.map((name) => given.get(name)).find((value) => typeof value === 'string');
  const path = text(names.path);
  const old = text(names.old);
  const replacement = text(old === undefined ? names.whole : names.new);
  if (path === undefined || replacement === undefined) return undefined;
  const isEverywhere = names.everywhere.some((name) => given.get(name) === true);
  return { path, old, new: replacement, isEverywhere };
}

/**
 * Returns the diff of an edit. With the text of the file its lines have their numbers there;
 * `file` is `undefined` when it does not exist or cannot be read.
 */
export function diffOfEdit(edit: FileEdit, file: string | undefined): Diff {
  const { old } = edit;
  if (old === undefined) return diffTexts(file ?? '', edit.new);
  if (file === undefined || old === '' || !file.includes(old)) return diffTexts(old, edit.new);
  const after = edit.isEverywhere
    ? file.replaceAll(old, () => edit.new)
    : file.replace(old, () => edit.new);
  return diffTexts(file, after);
}
