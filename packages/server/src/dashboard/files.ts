import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file of the dashboard. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same, compressed; missing where that is no gain. */
  readonly compressed?: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

interface Known {
  readonly stamp: string;
  readonly file: PageFile;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const compressible = /^(?:text\/|application\/|image\/svg)/;
/** Smaller files gain nothing. */
const leastCompressed = 1_024;
/** One name, which begins with no dot: no path leads out of a folder. */
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/;

/** The files of the dashboard. They are kept in memory, and read again when they have changed. */
export class PageFiles {
  readonly #folder: string;
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `index.html` with the address below which the page lives; `undefined`: it is not built yet. */
  async index(basePath: string): Promise<PageFile | undefined> {
    return this.#read('index.html', (html) => withBase(html, basePath));
  }

  /** A file beside `index.html`; `undefined` when there is none of this name. */
  async beside(name: string): Promise<PageFile | undefined> {
    return isName(name) && name !== 'index.html' ? this.#read(name) : undefined;
  }

  /** A file of the folder `assets`, whose names change with their contents. */
  async asset(name: string): Promise<PageFile | undefined> {
    return isName(name) ? this.#read(join('assets', name)) : undefined;
  }

  async #read(
    path: string,
    change: (text: string) => string = (text) => text,
  ): Promise<PageFile | undefined> {
    const type = types[extname(path)];
    if (type === undefined) return undefined;
    const whole = join(this.#folder, path);
    const found = await stat(whole).catch(unlessMissing);
    if (found === undefined || !found.isFile()) return undefined;
    const stamp = `${found.size} ${found.mtimeMs} ${found.ino}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.file;
    const read = await readFile(whole).catch(unlessMissing);
    if (read === undefined) return undefined;
    const isHtml = type.startsWith('text/html');
    const file = await fileOf(isHtml ? Buffer.from(change(read.toString('utf8'))) : read, type);
    this.#known.set(path, { stamp, file });
    return file;
  }
}

function isName(name: string): boolean {
  return namePattern.test(name);
}

async function fileOf(read: Buffer<ArrayBuffer>, type: string): Promise<PageFile> {
  const etag = `"${createHash('sha256').update(read).digest('base64url').slice(0, 22)}"`;
  const bytes = new Uint8Array(read);
  if (bytes.length < leastCompressed || !compressible.test(type)) return { bytes, type, etag };
  const compressed = new Uint8Array(await promisify(gzip)(bytes));
  return { bytes, compressed, type, etag };
}

/**
 * Names the address below which the page lives, in front of all that depends on it. One that the
 * file has is left out: the page is built before it is known where it will be.
 */
function withBase(html: string, basePath: string): string {
  const base = `<base href="${escaped(basePath)}">`;
  const rest = html.replaceAll(/<base\b[^>]*>/gi, '');
  const head = /<head\b[^>]*>/i;
  return head.test(rest) ? rest.replace(head, (found) => found + base) : base + rest;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** Files come and go while the page is built. */
function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR') throw error;
}
