import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../failure.ts';
import { type ConfigOptions, isOwn, nearestConfig } from '../modules/find-config.ts';
import type { Host } from './host.ts';

/** Names that count in a folder without a configuration. */
const keyName = /_API_KEY$/;

/**
 * Sets the variables of the `.env` beside the configuration; those that are set stay as they are.
 * Without a configuration the file of the present folder counts, but only its keys: another
 * variable could send the prompts of the user to another server.
 * @returns the path of the file, if there is one
 * @throws UsageError when the file cannot be read; it tells no value
 */
export function readEnvFile(host: Host, { config }: ConfigOptions): string | undefined {
  const module = config ?? ownConfig(host.cwd);
  const isProject = typeof module === 'string';
  const file = join(isProject ? dirname(resolve(host.cwd, module)) : host.cwd, '.env');
  const text = textOf(file);
  if (text === undefined) return undefined;
  for (const [name, value] of Object.entries(parseEnv(text)))
    if (value !== undefined && host.env[name] === undefined && (isProject || keyName.test(name)))
      host.setVariable(name, value);
  return file;
}

/** The configuration from a folder upwards, unless it is that of somebody else. */
function ownConfig(cwd: string): string | undefined {
  const file = nearestConfig(cwd);
  return file === undefined || dirname(file) === cwd || isOwn(file) ? file : undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError({ reason: `${file} cannot be read (${code}).` });
  }
}
