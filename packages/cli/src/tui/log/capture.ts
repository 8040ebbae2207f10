import { format } from 'node:util';
import type { LogBook, LogLevel } from './log-book.ts';

/** Methods of the console by their levels. */
const methods = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  warn: 'warn',
  error: 'error',
} as const satisfies Readonly<Record<string, LogLevel>>;
type Method = keyof typeof methods;

/** A console, as far as it is captured. */
export type CapturedConsole = Record<Method, (...words: unknown[]) => void>;
/** The stream of errors. Where it is no terminal, what is written on it goes there as well. */
export interface CapturedStream {
  readonly isTTY?: boolean | undefined;
  write: NodeJS.WritableStream['write'];
}

/**
 * Takes what is written on the console and on a stream into a book, so that it does not run into
 * the screen. Returns a function that gives both back.
 */
export function captureLog(
  book: LogBook,
  console: CapturedConsole,
  stream: CapturedStream,
  now: () => number,
): () => void {
  const before = { ...console };
  const { write } = stream;
  for (const [method, level] of Object.entries(methods) as [Method, LogLevel][])
    console[method] = (...words) => book.write(format(...words), level, now());
  stream.write = ((text: string | Uint8Array, ...rest: unknown[]) => {
    const written = typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
    book.write(written, 'warn', now());
    if (stream.isTTY !== true) return write.call(stream, written);
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  }) as NodeJS.WritableStream['write'];
  return () => {
    for (const method of Object.keys(methods) as Method[]) console[method] = before[method];
    stream.write = write;
  };
}
