import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type InputState,
  inputDueAt,
  noInput,
  readChunk,
  readTimeout,
} from '../../../src/tui/editor/input.ts';
import type { Input } from '../../../src/tui/editor/keys.ts';

/** Gives the inputs of chunks that come at their times, and of the silence afterwards. */
function read(...chunks: readonly (readonly [at: number, chunk: string])[]): Input[] {
  let state: InputState = noInput;
  const inputs: Input[] = [];
  for (const [at, chunk] of chunks) {
    const reading = readChunk(state, chunk, at);
    state = reading.state;
    inputs.push(...reading.inputs);
  }
  const due = inputDueAt(state);
  return due === undefined ? inputs : [...inputs, ...readTimeout(state, due).inputs];
}

const key = (name: string, held: object = {}) => ({ kind: 'key', key: name, ...held });
const text = (typed: string) => ({ kind: 'text', text: typed });
const paste = (pasted: string) => ({ kind: 'paste', text: pasted });
const ctrl = { ctrl: true };
const alt = { alt: true };

test.each([
  ['a letter', 'a', [text('a')]],
  ['letters of several units', '日👩‍👧', [text('日👩‍👧')]],
  ['Enter', '\r', [key('enter')]],
  ['Ctrl-J', '\n', [key('j', ctrl)]],
  ['Tab and Shift-Tab', '\t\x1b[Z', [key('tab'), key('tab', { shift: true })]],
  ['Backspace', '\x7f', [key('backspace')]],
  ['Ctrl-C and Ctrl-_', '\x03\x1f', [key('c', ctrl), key('_', ctrl)]],
  ['arrows', '\x1b[A\x1bOB', [key('up'), key('down')]],
  ['arrows with Ctrl and Alt', '\x1b[1;5D\x1b[1;3C', [key('left', ctrl), key('right', alt)]],
  ['Alt with an arrow of rxvt', '\x1b\x1b[A', [key('up', alt)]],
  ['Home, End, Delete', '\x1b[H\x1b[4~\x1b[3~', [key('home'), key('end'), key('delete')]],
  ['pages', '\x1b[5~\x1b[6~', [key('pageUp'), key('pageDown')]],
  ['Alt-B and Alt-Enter', '\x1bb\x1b\r', [key('b', alt), key('enter', alt)]],
  ['the Enter of the number pad', '\x1bOM', [key('enter')]],
  [
    'Shift-Enter and Escape of kitty',
    '\x1b[13;2u\x1b[27u',
    [key('enter', { shift: true }), key('escape')],
  ],
  ['letters of kitty', '\x1b[97;5u\x1b[97;2u\x1b[228u', [key('a', ctrl), text('A'), text('ä')]],
  ['text of kitty', '\x1b[97;2;8364u', [text('€')]],
  ['the release of a key', '\x1b[97;1:3u', []],
  ['modified keys of xterm', '\x1b[27;2;13~', [key('enter', { shift: true })]],
  [
    'reports of the focus, of the mouse and of colours',
    '\x1b[I\x1b[O\x1b[<0;1;1M\x1b]11;rgb:0/0/0\x07',
    [],
  ],
  ['function keys', '\x1bOP\x1b[15~\x1b[57376u', []],
  [
    'keys between letters',
    'ab\x7fc\x1b[Dd',
    [text('ab'), key('backspace'), text('c'), key('left'), text('d')],
  ],
])('%s', (_, chunk, inputs) => {
  expect(read([0, chunk])).toEqual(inputs);
});

test('an arrow that is split within 100 ms is no Escape', () => {
  expect(read([0, '\x1b'], [99, '[A'])).toEqual([key('up')]);
  expect(read([0, '\x1b'], [60, '['], [120, 'A'])).toEqual([key('up')]);
  expect(read([0, '\x1b'], [50, '[1;5'], [90, 'D'])).toEqual([key('left', ctrl)]);
  expect(read([0, '\x1b'], [50, 'b'])).toEqual([key('b', alt)]);
});

test('Escape acts 100 ms after it came', () => {
  const { state, inputs } = readChunk(noInput, '\x1b', 1_000);
  expect(inputs).toEqual([]);
  expect(inputDueAt(state)).toBe(1_100);
  expect(readTimeout(state, 1_099).inputs).toEqual([]);
  expect(readTimeout(state, 1_100).inputs).toEqual([key('escape')]);
  expect(read([0, '\x1b'], [100, '[A'])).toEqual([key('escape'), text('[A')]);
  expect(read([0, '\x1b'], [40, 'hello'])).toEqual([key('escape'), text('hello')]);
  expect(read([0, '\x1b'], [40, '\x1b'])).toEqual([key('escape'), key('escape')]);
});

test('a line and its Enter in one chunk are typed', () => {
  expect(read([0, 'hello\r'])).toEqual([text('hello'), key('enter')]);
  expect(read([0, '\x1b[Ahello\r'])).toEqual([key('up'), text('hello'), key('enter')]);
});

test('a chunk with a line break inside is a paste and sends nothing', () => {
  expect(read([0, 'one\rtwo\r'])).toEqual([paste('one\ntwo\n')]);
  expect(read([0, 'one\r\n'])).toEqual([paste('one\n')]);
  expect(read([0, 'one\n'])).toEqual([paste('one\n')]);
  expect(read([0, '\r\r'])).toEqual([paste('\n\n')]);
});

test('the rest of such a paste, in the next chunk, sends nothing either', () => {
  expect(read([0, 'one\rtwo'], [10, ' three\r'], [20, '\r'])).toEqual([
    paste('one\ntwo'),
    paste(' three\n'),
    paste('\n'),
  ]);
  expect(read([0, 'one\rtwo'], [500, '\r'])).toEqual([paste('one\ntwo'), key('enter')]);
  expect(read([0, 'one\rtwo'], [10, '\x03'])).toEqual([paste('one\ntwo'), key('c', ctrl)]);
  expect(read([0, 'x'.repeat(1_001)], [10, 'y\r'])).toEqual([
    paste('x'.repeat(1_001)),
    paste('y\n'),
  ]);
});

test('a paste with marks is whole, wherever it is cut', () => {
  const whole = 'a\x1b[200~one\r\ntwo\x1b[31m\t\r\x1b[201~b\r';
  const inputs = [text('a'), paste('one\ntwo\x1b[31m\t\n'), text('b'), key('enter')];
  expect(read([0, whole])).toEqual(inputs);
  for (let cut = 1; cut < whole.length - 2; cut++)
    expect(read([0, whole.slice(0, cut)], [10, whole.slice(cut)])).toEqual(inputs);
});

test('a paste without its end is taken after 2 s', () => {
  const { state } = readChunk(noInput, '\x1b[200~one\r', 0);
  const more = readChunk(state, 'two', 1_500);
  expect(more.inputs).toEqual([]);
  expect(inputDueAt(more.state)).toBe(3_500);
  expect(readTimeout(more.state, 3_500)).toMatchObject({ inputs: [paste('one\ntwo')] });
  expect(read([0, '\x1b[200~one'], [2_000, 'x\r'])).toEqual([
    paste('one'),
    text('x'),
    key('enter'),
  ]);
  expect(read([0, '\x1b[200~one'], [2_000, '\x1b[201~'])).toEqual([paste('one')]);
});

// A letter with Alt that is cut behind its `ESC` is known only while nothing follows it.
const sequences = ['\x1b[A', '\x1b[1;5D', '\x1bOH', '\x1b[13;2u', '\x1b[200~x\ry\x1b[201~'];

test('sequences mean the same, wherever they are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...sequences, 'a', '日', '\x7f', '\t'), { maxLength: 8 }),
      fc.array(fc.nat(60), { maxLength: 4 }),
      (parts, cuts) => {
        const whole = parts.join('');
        const places = [...new Set(cuts.filter((cut) => cut < whole.length))].sort((a, b) => a - b);
        const chunks = [0, ...places].map(
          (from, at) => [at * 10, whole.slice(from, places[at])] as const,
        );
        const joined = (inputs: readonly Input[]): object[] =>
          inputs.flatMap<object>((input) =>
            input.kind === 'text' ? [...input.text].map(text) : [input],
          );
        expect(joined(read(...chunks.filter(([, chunk]) => chunk !== '')))).toEqual(
          joined(read([0, whole])),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('no chunks, however strange, give a control character as text', () => {
  const unit = fc.constantFrom(
    '\x1b',
    '[',
    '200~',
    '201~',
    'O',
    ';',
    '5',
    'A',
    '\r',
    '\n',
    '\x9b',
    ']',
    '\x07',
    'x',
  );
  fc.assert(
    fc.property(fc.array(fc.string({ unit, maxLength: 10 }), { maxLength: 6 }), (chunks) => {
      const inputs = read(...chunks.map((chunk, at) => [at * 40, chunk] as const));
      for (const input of inputs)
        if (input.kind === 'text') expect(input.text).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 1_000 },
  );
});
