import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { nearestName } from '../../../base/nearest-name.ts';
import { InvalidToolError, ToolFailure } from '../../errors.ts';

export interface RootedToolOptions {
  /** The folder that the tool can see; nothing outside of it can be reached. */
  readonly root: string;
}

export interface FoundFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly size: number;
}

/** An open file that is known to lie inside the root. */
export interface OpenFile extends AsyncDisposable, FoundFile {
  readonly handle: FileHandle;
}

/** Files below one folder, read only. All paths are relative to it and written with `/`. */
export interface RootedFiles {
  /** @throws ToolFailure when the path is refused, missing or not a file */
  open(path: string): Promise<OpenFile>;
  /**
   * All files below a folder (or the one file), in the order of their paths. `node_modules` and
   * `.git` are left out, links to folders are not followed, links to files only when they stay
   * inside.
   * @throws ToolFailure when the path is refused or missing
   */
  walk(path: string, signal?: AbortSignal): AsyncIterable<FoundFile>;
}

const skippedFolders = new Set(['node_modules', '.git']);

/**
 * Opens a folder for tools that read files. Each path is checked on the file that was really
 * opened, after it was opened. So exchanging a folder for a link in between gains nothing. Hard
 * links cannot be told from files and are not refused.
 * @throws InvalidToolError when `root` is not a text
 */
export function rootedFiles(tool: string, { root }: RootedToolOptions): RootedFiles {
  if (typeof root !== 'string' || root === '')
    throw new InvalidToolError({
      tool,
      reason: '`root` must name the folder that the tool may read',
    });
  return {
    async open(path) {
      const realRoot = await realRootOf(root);
      const place = await locate(realRoot, path);
      return openInside(realRoot, place, path);
    },
    async *walk(path, signal) {
      const realRoot = await realRootOf(root);
      const place = await locate(realRoot, path);
      const found = await stat(place);
      if (found.isDirectory()) yield* walkFolder(realRoot, place, signal);
      else if (found.isFile()) yield { path: pathBelow(realRoot, place), size: found.size };
    },
  };
}

async function realRootOf(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (cause) {
    throw new ToolFailure('The folder that this tool is set up to read does not exist.', {
      errorType: 'root_not_found',
      cause,
    });
  }
}

/** Returns the real place of a path, if it is inside. */
async function locate(realRoot: string, path: string): Promise<string> {
  assertRelative(path);
  let place: string;
  try {
    place = await realpath(join(realRoot, path));
  } catch (cause) {
    throw await missing(realRoot, path, cause);
  }
  if (!isInside(realRoot, place)) throw refused(path, 'it leads out of the root');
  return place;
}

function assertRelative(path: string): void {
  if (path.includes('\0')) throw refused(path.replaceAll('\0', '\\0'), 'it has a null character');
  if (path.includes('\\')) throw refused(path, 'folders are separated by "/"');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw refused(path, 'only paths relative to the root are allowed');
  if (path.split('/').includes('..')) throw refused(path, '".." is not allowed');
  if (path.length > 1_000) throw refused(`${path.slice(0, 60)}…`, 'it is too long');
}

function refused(path: string, reason: string): ToolFailure {
  return new ToolFailure(`The path "${path}" is refused: ${reason}.`, {
    errorType: 'path_refused',
    status: 'error_blocked',
    alternatives: [
      'Use a path relative to the root, such as "reports/2026.csv".',
      'List the files to see what is there.',
    ],
  });
}

function isInside(realRoot: string, place: string): boolean {
  return place === realRoot || place.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
}

function pathBelow(realRoot: string, place: string): string {
  return relative(realRoot, place).split(sep).join('/');
}

async function missing(realRoot: string, path: string, cause: unknown): Promise<ToolFailure> {
  const { code } = cause as { code?: unknown };
  if (code === 'EACCES' || code === 'EPERM') return notPermitted(path, cause);
  if (code === 'ELOOP') return refused(path, 'it is a link that leads in a circle');
  const nearest = await nearestSibling(realRoot, path);
  return new ToolFailure(`There is no "${path}".`, {
    errorType: 'file_not_found',
    alternatives: [
      ...(nearest === undefined ? [] : [`Did you mean "${nearest}"?`]),
      'List the files to see what is there.',
    ],
    cause,
  });
}

function notPermitted(path: string, cause: unknown): ToolFailure {
  return new ToolFailure(`"${path}" may not be read.`, {
    errorType: 'permission_denied',
    alternatives: ['Use another file.'],
    cause,
  });
}

async function nearestSibling(realRoot: string, path: string): Promise<string | undefined> {
  const folder = dirname(path);
  try {
    const place = await realpath(join(realRoot, folder));
    if (!isInside(realRoot, place)) return undefined;
    const nearest = nearestName(basename(path), await readdir(place));
    return nearest === undefined || folder === '.' ? nearest : `${folder}/${nearest}`;
  } catch {
    // The folder is missing too: there is nothing to suggest.
    return undefined;
  }
}

/**
 * Flags of the open: pipes must not block it, and links at the end must not be followed, because
 * `place` is already resolved.
 */
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function openInside(realRoot: string, place: string, path: string): Promise<OpenFile> {
  const handle = await open(place, openFlags).catch((cause: unknown) => {
    throw openFailure(path, cause);
  });
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw isFolder(path);
    if (!found.isFile()) throw refused(path, 'it is not a regular file');
    if (!isInside(realRoot, await openedPlace(handle, place, found)))
      throw refused(path, 'it leads out of the root');
    return {
      handle,
      path: pathBelow(realRoot, place),
      size: found.size,
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function openFailure(path: string, cause: unknown): unknown {
  const { code } = cause as { code?: unknown };
  if (code === 'EACCES' || code === 'EPERM') return notPermitted(path, cause);
  if (code === 'ELOOP') return refused(path, 'it became a link while it was opened');
  if (code === 'EISDIR') return isFolder(path);
  if (code === 'ENXIO') return refused(path, 'it is not a regular file');
  return cause;
}

function isFolder(path: string): ToolFailure {
  return new ToolFailure(`"${path}" is a folder.`, {
    errorType: 'is_folder',
    alternatives: ['List the files in it.'],
  });
}

/**
 * Returns the present place of the opened file. Linux tells it; elsewhere the path is resolved
 * again and must still be the same file.
 */
async function openedPlace(
  handle: FileHandle,
  place: string,
  opened: { dev: number; ino: number },
): Promise<string> {
  if (process.platform === 'linux') {
    const told = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (told !== undefined) return told;
  }
  const now = await realpath(place);
  const { dev, ino } = await stat(now);
  return dev === opened.dev && ino === opened.ino ? now : '';
}

async function* walkFolder(
  realRoot: string,
  folder: string,
  signal: AbortSignal | undefined,
): AsyncIterable<FoundFile> {
  signal?.throwIfAborted();
  for (const { name, isFolder } of await entriesOf(folder)) {
    const place = join(folder, name);
    if (isFolder) {
      if (!skippedFolders.has(name)) yield* walkFolder(realRoot, place, signal);
    } else {
      const found = await fileInside(realRoot, place);
      if (found !== undefined) yield found;
    }
  }
}

/**
 * Returns the entries of a folder, in the order of paths. Empty when it cannot be read or was
 * exchanged for a link meanwhile.
 */
async function entriesOf(folder: string): Promise<readonly { name: string; isFolder: boolean }[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    if ((await realpath(folder)) !== folder) return [];
    const sortable = entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    return sortable.sort((a, b) =>
      compareText(a.isFolder ? `${a.name}/` : a.name, b.isFolder ? `${b.name}/` : b.name),
    );
  } catch {
    return [];
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function fileInside(realRoot: string, place: string): Promise<FoundFile | undefined> {
  try {
    const real = await realpath(place);
    if (!isInside(realRoot, real)) return undefined;
    const found = await stat(real);
    return found.isFile() ? { path: pathBelow(realRoot, place), size: found.size } : undefined;
  } catch {
    // The entry was removed meanwhile, is a broken link, or is not permitted: it is not listed.
    return undefined;
  }
}
