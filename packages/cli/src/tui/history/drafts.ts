import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Atom } from '../editor/atoms.ts';
import { type Editor, emptyEditor } from '../editor/editor.ts';
import { fileNameFor, readPrivate, writePrivate } from './private-file.ts';

const version = 1;

/** Returns the file of the draft of a session; `store` parts sessions of the same name. */
export function draftPath(dataFolder: string, store: string, session: string): string {
  return join(dataFolder, 'drafts', `${fileNameFor(JSON.stringify([store, session]))}.json`);
}

/** Keeps the text of an editor as the draft of a session; an empty one ends the draft. */
export async function keepDraft(path: string, { atoms, cursor }: Editor): Promise<void> {
  if (atoms.length === 0) await rm(path, { force: true });
  else await writePrivate(path, JSON.stringify({ version, atoms, cursor }));
}

/** Returns the draft of a session; `undefined`: there is none that can be read. */
export async function readDraft(path: string): Promise<Editor | undefined> {
  const stored = await readPrivate(path);
  return stored === '' ? undefined : editorOf(stored);
}

function editorOf(stored: string): Editor | undefined {
  try {
    const draft = JSON.parse(stored) as { version?: unknown; atoms?: unknown; cursor?: unknown };
    if (draft.version !== version || !Array.isArray(draft.atoms)) return undefined;
    if (!draft.atoms.every(isAtom) || draft.atoms.length === 0) return undefined;
    const cursor = Number.isInteger(draft.cursor) ? (draft.cursor as number) : 0;
    const place = Math.max(0, Math.min(cursor, draft.atoms.length));
    return { ...emptyEditor, atoms: draft.atoms, cursor: place };
  } catch {
    return undefined;
  }
}

function isAtom(value: unknown): value is Atom {
  if (typeof value === 'string') return value !== '';
  if (typeof value !== 'object' || value === null) return false;
  const { kind, text, path, label } = value as Record<string, unknown>;
  if (kind === 'slash') return text === '/';
  if (typeof text !== 'string') return false;
  return (
    kind === 'paste' || (kind === 'file' && typeof path === 'string' && typeof label === 'string')
  );
}
