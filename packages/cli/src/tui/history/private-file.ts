import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const ownerOnly = 0o600;

/** Returns a name of a file for a path or an identifier, whatever characters it has. */
export function fileNameFor(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 24);
}

/** Returns the text of a file; an empty one if it does not exist. */
export async function readPrivate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Writes a file that its owner alone can read, whole or not at all. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await makeFolder(path);
  const draft = `${path}.${process.pid}.new`;
  try {
    await writeFile(draft, text, { mode: ownerOnly });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Appends to a file that its owner alone can read, also if another one made it readable. */
export async function appendPrivate(path: string, text: string): Promise<void> {
  await makeFolder(path);
  await writeFile(path, text, { mode: ownerOnly, flag: 'a' });
  await chmod(path, ownerOnly);
}

/** Makes the folder of a file. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
}
