import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';

/** A text to be edited, and the name of its file, by whose end editors know its kind. */
export interface EditedText {
  readonly text: string;
  readonly file: 'message.md' | 'answer.json';
}

/**
 * Returns the command of the person's editor.
 * @throws UsageError when none is set
 */
export function editorCommand({ env }: Host): string {
  const command = env['VISUAL'] || env['EDITOR'];
  if (command === undefined || command.trim() === '')
    throw new UsageError({
      reason: 'No editor is set. Put its command into VISUAL or EDITOR, and start the app again.',
    });
  return command;
}

/**
 * Opens a text in an editor, which has the terminal until it ends, and returns the text that was
 * saved. The file is for its owner alone, and is removed.
 * @throws UsageError when the editor could not be started, or did not end well
 */
export async function editOutside(
  host: Host,
  command: string,
  { text, file }: EditedText,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-edit-'));
  const path = join(folder, file);
  try {
    await writeFile(path, text, { mode: 0o600 });
    const end = await runEditor(host, command, path);
    if (end !== undefined)
      throw new UsageError({ reason: `The editor ${end}. The text is as it was.` });
    const edited = await readFile(path, 'utf8');
    // Editors end the last line of a file.
    return text.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs an editor. Returns how it ended, in words; `undefined`: as it should. */
async function runEditor(
  { env, cwd, platform }: Host,
  command: string,
  path: string,
): Promise<string | undefined> {
  const options = { cwd, env, stdio: 'inherit' } as const;
  // The command may have arguments of its own, such as `code --wait`.
  const editor =
    platform === 'win32'
      ? spawn(`${command} "${path}"`, { ...options, shell: true })
      : spawn('/bin/sh', ['-c', `${command} "$1"`, command, path], options);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  editor.on('error', ({ message }) => resolve(`could not be started: ${message}`));
  editor.on('close', (code, signal) => {
    if (signal !== null) resolve(`was ended by ${signal}`);
    else resolve(code === 0 ? undefined : `ended with code ${code}`);
  });
  return promise;
}
