import { contentHash } from '../../base/hash.ts';
import type { EvalReport } from '../report.ts';
import { EvalReportNotFoundError, EvalReportUnreadableError } from './errors.ts';
import { NotParsedError } from './parse.ts';
import { parseReport, reportFormat, reportVersion } from './parse-report.ts';

/** Ids are names of files: no folders, and nothing that hides a file. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$/;
const ending = '.json';
const longestName = 60;
const shownHash = 8;
/** Only their owner reads reports: they have texts of conversations. */
const folderMode = 0o700;
const fileMode = 0o600;

/** A kept file, as the folder says. */
export interface KeptFile {
  readonly id: string;
  readonly bytes: number;
  /** Changes whenever the file does. */
  readonly stamp: string;
}

/** A folder of reports, a file each. It is read as if anybody could write into it. */
export class ReportFolder {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Ids of the kept files, those of the newest runs first. Empty while there is no folder. */
  async ids(): Promise<readonly string[]> {
    const { readdir } = process.getBuiltinModule('node:fs/promises');
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(unlessMissing);
    return (entries ?? [])
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map(({ name }) => name.slice(0, -ending.length))
      .filter((id) => idPattern.test(id))
      .sort((a, b) => (a < b ? 1 : -1));
  }

  /** @throws EvalReportNotFoundError for whatever is no file of this folder itself */
  async find(id: string): Promise<KeptFile> {
    const { lstat } = process.getBuiltinModule('node:fs/promises');
    const found = await lstat(this.#pathOf(id)).catch(unlessMissing);
    if (found === undefined || !found.isFile()) throw new EvalReportNotFoundError({ id });
    return { id, bytes: found.size, stamp: `${found.size} ${found.mtimeMs} ${found.ino}` };
  }

  /** @throws EvalReportNotFoundError, EvalReportUnreadableError */
  async read(id: string): Promise<EvalReport> {
    const { bytes } = await this.find(id);
    this.#refuseLarge(id, bytes);
    return reportIn(id, (await this.#bytesOf(id)).toString('utf8'));
  }

  /** Keeps a report under its id: the same run of an eval again takes the place of the former. */
  async keep(report: EvalReport): Promise<{ readonly id: string; readonly file: string }> {
    const { mkdir, rename, writeFile } = process.getBuiltinModule('node:fs/promises');
    const id = idOf(report);
    const file = this.#pathOf(id);
    await mkdir(this.#folder, { recursive: true, mode: folderMode });
    // Readers never see half of a report. Its name is that of no report.
    const half = `${file}.${process.pid}`;
    await writeFile(half, `${JSON.stringify(report)}\n`, { mode: fileMode });
    await rename(half, file);
    return { id, file };
  }

  /** @throws EvalReportNotFoundError for an id that is no plain name */
  #pathOf(id: string): string {
    if (!idPattern.test(id)) throw new EvalReportNotFoundError({ id });
    return process.getBuiltinModule('node:path').join(this.#folder, `${id}${ending}`);
  }

  /** The file may have become another one meanwhile: what is open is looked at again. */
  async #bytesOf(id: string): Promise<Buffer> {
    const { constants } = process.getBuiltinModule('node:fs');
    const { open } = process.getBuiltinModule('node:fs/promises');
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const file = await open(this.#pathOf(id), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
      unlessMissing,
    );
    if (file === undefined) throw new EvalReportNotFoundError({ id });
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new EvalReportNotFoundError({ id });
      this.#refuseLarge(id, found.size);
      const buffer = Buffer.alloc(found.size);
      const { bytesRead } = await file.read(buffer, 0, found.size, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  #refuseLarge(id: string, bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    const detail = `it has ${bytes} bytes, and at most ${this.#maxBytes} are read`;
    throw new EvalReportUnreadableError({ id, reason: 'too_large', detail });
  }
}

function reportIn(id: string, text: string): EvalReport {
  const refuse = (reason: 'not_json' | 'unknown_version' | 'damaged', detail: string): never => {
    throw new EvalReportUnreadableError({ id, reason, detail });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('not_json', 'it is no JSON');
  }
  const { format, v } = (value ?? {}) as { readonly format?: unknown; readonly v?: unknown };
  if (format === reportFormat && v !== reportVersion)
    return refuse('unknown_version', `it is of a version other than ${reportVersion}`);
  try {
    return parseReport(value);
  } catch (error) {
    if (!(error instanceof NotParsedError)) throw error;
    return refuse('damaged', `it is no report of an eval: ${error.message}`);
  }
}

/** Ids begin with the time, so that names of files are in the order of the runs. */
function idOf({ name, runId, startedAt }: EvalReport): string {
  const at = new Date(startedAt).toISOString().slice(0, 23).replaceAll(/[-:.]/g, '');
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, longestName);
  const hash = contentHash([name, runId, startedAt]).slice(0, shownHash);
  return [at, words, hash].filter((part) => part !== '').join('-');
}

/** Files come and go. A link in the place of a file is none of this folder (`ELOOP`). */
function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ELOOP' && code !== 'EMLINK') throw error;
}
