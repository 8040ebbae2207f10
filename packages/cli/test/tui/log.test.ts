import { expect, test } from 'vitest';
import { type CapturedConsole, captureLog } from '../../src/tui/log/capture.ts';
import { LogBook } from '../../src/tui/log/log-book.ts';

test('lines of JSON are read, others are kept as they stand', () => {
  const book = new LogBook();
  const pino = {
    level: 50,
    time: 7,
    pid: 1,
    hostname: 'h',
    name: 'shop',
    module: 'db',
    msg: 'gone',
  };
  book.write(`${JSON.stringify({ ...pino, table: 'orders' })}\n\nplain {\n`, 'info', 9);
  book.write(
    '{"severity":"x"}\n{"level":"WARNING","message":"slow","timestamp":"1970"}',
    'debug',
    9,
  );
  expect(book.entries).toEqual([
    { at: 7, level: 'error', source: 'shop/db', text: 'gone {"table":"orders"}' },
    { at: 9, level: 'info', source: '', text: 'plain {' },
    { at: 9, level: 'debug', source: '', text: '{"severity":"x"}' },
    { at: 0, level: 'warn', source: '', text: 'slow' },
  ]);
});

test('the newest 10,000 entries are kept at least', () => {
  const book = new LogBook();
  for (let at = 1; at <= 25_000; at++) book.write(`line ${at}`, 'info', at);
  expect(book.entries.length).toBeGreaterThanOrEqual(10_000);
  expect(book.entries.length + book.dropped).toBe(25_000);
  expect(book.entries.at(-1)?.text).toBe('line 25000');
});

test('the console and a stream are captured, and given back', () => {
  const book = new LogBook();
  const written: string[] = [];
  const write = (method: string) => (text: unknown) => void written.push(`${method} ${text}`);
  const console: CapturedConsole = {
    ...{ log: write('log'), info: write('info'), debug: write('debug'), trace: write('trace') },
    ...{ warn: write('warn'), error: write('error') },
  };
  const stream = {
    isTTY: true,
    write: (text: string | Uint8Array) => written.push(`stream ${text}`) > 0,
  };
  const giveBack = captureLog(book, console, stream, () => 5);
  console.log('hello %s', 'you', { a: 1 });
  console.error('broken');
  expect(stream.write(Buffer.from('(node:1) Warning\n'))).toBe(true);
  giveBack();
  console.log('again');
  stream.write('again');
  expect(book.entries.map(({ level, text }) => `${level} ${text}`)).toEqual([
    'info hello you { a: 1 }',
    'error broken',
    'warn (node:1) Warning',
  ]);
  expect(written).toEqual(['log again', 'stream again']);
});

test('where errors go into a file, they go there as well', () => {
  const book = new LogBook();
  const written: string[] = [];
  const stream = { write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  const giveBack = captureLog(book, { ...console }, stream, () => 5);
  stream.write('gone\n');
  giveBack();
  expect(written).toEqual(['gone\n']);
  expect(book.entries).toMatchObject([{ text: 'gone' }]);
});
