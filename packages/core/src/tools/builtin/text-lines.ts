import { ToolFailure } from '../errors.ts';
import type { OpenFile } from './rooted-files.ts';

const chunkSize = 65_536;
const lineFeed = 10;

/** One line of a file, without its end. */
export interface TextLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The line is longer than what is kept of one. */
  readonly cut: boolean;
}

/**
 * The lines of a UTF-8 file, one at a time, with at most `longestLine` bytes of each, so that files of any size can be read.
 * A byte order mark and the `\r` of `\r\n` are left out; bytes that are not UTF-8 become U+FFFD.
 * @throws ToolFailure when the file is binary: its first 64 KB have a null byte
 */
export async function* linesOf(file: OpenFile, longestLine: number, signal?: AbortSignal): AsyncIterable<TextLine> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let number = 0;
  let cut = false;
  const keep = (part: Buffer): void => {
    const room = longestLine - keptBytes;
    if (part.length > room) cut = true;
    if (room <= 0 || part.length === 0) return;
    kept.push(Buffer.from(part.subarray(0, room)));
    keptBytes += Math.min(room, part.length);
  };
  const take = (): TextLine => {
    const line = { number: ++number, text: decodeLine(Buffer.concat(kept), cut), cut };
    kept.length = 0;
    keptBytes = 0;
    cut = false;
    return line;
  };
  for await (const chunk of chunksOf(file, signal)) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (keptBytes > 0 || cut) yield take();
}

/** The bytes of a text file; each chunk is only valid until the next one is asked for. */
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

/** Leaves out a character of several bytes that was cut in the middle. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
