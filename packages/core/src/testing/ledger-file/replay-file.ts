import type { Runtime } from '../../runtime.ts';
import { type ReplayOptions, type ReplayReport, replay } from '../replay/replay.ts';
import type { LedgerFile } from './ledger-file.ts';
import { redactionNormalizer } from './normalizer.ts';
import { readLedgerFile } from './read-ledger-file.ts';

/**
 * Replays a ledger file against today's code, as `replay` does a session: every recorded run becomes a regression test. What was taken out of the
 * file is taken out of what the code does as well before the two are compared; `normalize` comes after that.
 * @param path of the file, or what was read of it
 * @throws InvalidLedgerFileError, LedgerFileTooNewError, and what `replay` throws
 */
export async function replayFile(path: string | LedgerFile, app: Runtime, options: ReplayOptions = {}): Promise<ReplayReport> {
  const file = typeof path === 'string' ? await readLedgerFile(path) : path;
  const redact = redactionNormalizer(file.redaction);
  const { normalize } = options;
  return replay(file, app, { ...options, normalize: normalize === undefined ? redact : (value) => normalize(redact(value)) });
}
