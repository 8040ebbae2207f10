import { ToolFailure } from '../../errors.ts';
import type { OpenFile } from './rooted-files.ts';

const chunkSize = 65_536;
const lineFeed = 10;

/** One line of a file, without its end. */
export interface TextLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** True when the line was longer than the limit and was cut. */
  readonly cut: boolean;
}

/** Receives a line. Returns `false` when the rest is only to be counted. */
type TakeLine = (line: TextLine) => boolean;

interface LineOptions {
  /** Number of the first line that is taken. @default 1 */
  readonly from?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a UTF-8 file line by line, with at most `longestLine` bytes of each, so that files of any
 * size can be read. A byte order mark and the `\r` of `\r\n` are left out; bytes that are not UTF-8
 * become U+FFFD. Lines that are not wanted are counted without being read, since a file may have as
 * many lines as bytes. Other tasks get a turn after each chunk.
 * @returns the number of lines
 * @throws ToolFailure when the file is binary: its first 64 KB have a null byte
 */
export async function eachLine(
  file: OpenFile,
  longestLine: number,
  take: TakeLine,
  { from = 1, signal }: LineOptions = {},
): Promise<number> {
  const line = new LineBuffer(longestLine);
  let number = 0;
  let isWanted = true;
  let isInLine = false;
  for await (const chunk of chunksOf(file, signal)) {
    let start = 0;
    while (start < chunk.length) {
      if (!isWanted || number + 1 < from) {
        const skipped = skipLines(
          chunk,
          start,
          isWanted ? from - 1 - number : Number.POSITIVE_INFINITY,
        );
        number += skipped.lines;
        start = skipped.end;
        isInLine = chunk[start - 1] !== lineFeed;
        continue;
      }
      const end = chunk.indexOf(lineFeed, start);
      line.keep(chunk.subarray(start, end < 0 ? chunk.length : end));
      isInLine = end < 0;
      start = end < 0 ? chunk.length : end + 1;
      if (!isInLine) isWanted = take(line.take(++number));
    }
  }
  if (!isInLine) return number;
  number++;
  if (isWanted && number >= from) take(line.take(number));
  return number;
}

/**
 * Returns the end of a number of lines in a chunk, or the end of the chunk, and the number of lines
 * that end in it.
 */
function skipLines(
  chunk: Buffer,
  start: number,
  most: number,
): { readonly lines: number; readonly end: number } {
  let lines = 0;
  let end = start;
  // Faster than a search for each line when lines are short.
  while (end < chunk.length && lines < most) if (chunk[end++] === lineFeed) lines++;
  return { lines, end };
}

/** The beginning of a line, which may come in several chunks. */
class LineBuffer {
  readonly #longest: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #cut = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  keep(part: Buffer): void {
    const room = this.#longest - this.#bytes;
    if (part.length > room) this.#cut = true;
    if (room <= 0 || part.length === 0) return;
    this.#parts.push(Buffer.from(part.subarray(0, room)));
    this.#bytes += Math.min(room, part.length);
  }

  take(number: number): TextLine {
    const cut = this.#cut;
    const text = this.#bytes === 0 ? '' : decodeLine(Buffer.concat(this.#parts), cut);
    this.#parts = [];
    this.#bytes = 0;
    this.#cut = false;
    return { number, text, cut };
  }
}

/** Yields the bytes of a text file; each chunk is only valid until the next one is asked for. */
export async function* chunksOf(file: OpenFile, signal?: AbortSignal): AsyncIterable<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkSize);
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.handle.read(buffer, 0, chunkSize, position);
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    if (position === 0) assertText(file, chunk);
    yield position === 0 ? withoutByteOrderMark(chunk) : chunk;
    position += bytesRead;
  }
}

function assertText(file: OpenFile, beginning: Buffer): void {
  if (!beginning.includes(0)) return;
  throw new ToolFailure(`"${file.path}" is not a UTF-8 text file.`, {
    errorType: 'binary_file',
    alternatives: ['Use a text file.', 'A file in UTF-16 must be saved as UTF-8 first.'],
  });
}

function withoutByteOrderMark(chunk: Buffer): Buffer {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;
}

function decodeLine(bytes: Buffer, cut: boolean): string {
  const whole = cut ? withoutBrokenEnd(bytes) : bytes;
  const end = whole.at(-1) === 13 ? whole.length - 1 : whole.length;
  return whole.toString('utf8', 0, end);
}

/** Returns bytes without a character at the end that was cut in the middle. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
