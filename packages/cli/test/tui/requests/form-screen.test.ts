import type { JsonObject } from 'adjutant';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Input } from '../../../src/tui/editor/keys.ts';
import { fieldsOf } from '../../../src/tui/requests/field.ts';
import { formOf } from '../../../src/tui/requests/form.ts';
import { readFormInput } from '../../../src/tui/requests/form-keys.ts';
import { contentWidth, formLines } from '../../../src/tui/requests/form-lines.ts';
import {
  chooseIn,
  type FormState,
  formJson,
  openForm,
  submitForm,
  withJson,
} from '../../../src/tui/requests/form-state.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';

const booking: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    born: { type: 'string', title: 'Born', format: 'date' },
    seat: { title: 'Seat', enum: ['window', 'aisle', 'any'], default: 'window' },
    luggage: { title: 'Luggage', type: 'array', items: { enum: ['cabin', 'hold'] } },
    comment: { title: 'Comment', type: 'string', maxLength: 500 },
  },
  required: ['name', 'born'],
};

const typed = (text: string): Input => ({ kind: 'text', text });
const key = (name: string, held: object = {}): Input => ({ kind: 'key', key: name, ...held });
const tab = key('tab');
const space = typed(' ');

/** The form after inputs, and the outcome of the last one. */
function after(state: FormState, ...inputs: readonly Input[]) {
  let reading: ReturnType<typeof readFormInput> = { state, outcome: 'taken' };
  for (const input of inputs) reading = readFormInput(reading.state, input, 40);
  return reading;
}

const shown = (state: FormState, width = 78): string[] =>
  formLines(state, { width }).lines.map((line) => textOfLine(line).trimEnd());

test('a form shows its fields, their hints and the faults of those that were left', () => {
  const filled = after(
    openForm(formOf(booking)),
    ...[typed('Ada Lovelace'), tab, typed('1815-12-1'), tab, tab, space],
    key('up'),
    key('up'),
  ).state;
  expect(shown(filled)).toEqual([
    '  Name *   Ada Lovelace',
    '› Born *   1815-12-1                                          date, YYYY-MM-DD',
    '           ✗ must be a date: 1815-12-1',
    '  Seat     (•) window  ( ) aisle  ( ) any',
    '  Luggage  [x] cabin  [ ] hold',
    '  Comment',
  ]);
  expect(formLines(filled, { width: 78 })).toMatchObject({
    focused: { start: 1, end: 3 },
    cursor: { row: 1, column: 11 + 9 },
  });
});

test('choices are taken by arrows and the blank, with or without several at once', () => {
  const { state } = after(
    openForm(formOf(booking)),
    tab,
    tab,
    key('right'),
    tab,
    key('right'),
    space,
  );
  expect(shown(state).slice(2, 4)).toEqual([
    '  Seat     ( ) window  (•) aisle  ( ) any',
    '› Luggage  [ ] cabin  [x] hold',
  ]);
  expect(shown(after(state, space).state)[3]).toBe('› Luggage  [ ] cabin  [ ] hold');
  expect(shown(after(state, key('left'), space).state)[3]).toBe('› Luggage  [x] cabin  [x] hold');
});

test('Enter goes on and sends from the last field; Alt-Enter sends from everywhere', () => {
  const form = openForm(formOf(booking));
  expect(after(form, key('enter'))).toMatchObject({ outcome: 'taken', state: { focus: 1 } });
  expect(after(form, key('enter', { alt: true })).outcome).toBe('send');
  expect(after(form, tab, tab, tab, tab, key('enter')).outcome).toBe('send');
  expect(after(form, tab, key('tab', { shift: true })).state.focus).toBe(0);
  expect(after(form, key('escape')).outcome).toBe('unused');
});

test('what is sent is checked whole; the first fault gets the focus', () => {
  const empty = submitForm(after(openForm(formOf(booking)), typed('Ada'), tab, tab).state);
  expect(empty.check).toMatchObject({ isWhole: false });
  expect(empty.state.focus).toBe(1);
  expect(shown(empty.state)[2]).toBe('           ✗ is required');
  const whole = submitForm(after(empty.state, typed('1815-12-10')).state);
  expect(whole.check).toEqual({
    isWhole: true,
    value: { name: 'Ada', born: '1815-12-10', seat: 'window' },
  });
});

test('a form goes to the editor as JSON without its faults, and comes back', () => {
  const form = formOf(booking);
  const { state } = after(openForm(form), typed('Ada'), tab, typed('soon'));
  const json = formJson(state);
  expect(JSON.parse(json)).toEqual({ name: 'Ada', seat: 'window' });
  const back = openForm(form, JSON.parse(json.replace('window', 'any')));
  expect(shown(back)[2]).toBe('  Seat     ( ) window  ( ) aisle  (•) any');
});

test('what is secret does not go to the editor, and stays', () => {
  const form = formOf({
    type: 'object',
    properties: { user: { type: 'string' }, code: { type: 'string', format: 'password' } },
    required: ['user', 'code'],
  });
  const { state } = after(openForm(form), typed('ada'), tab, typed('hush'));
  expect(JSON.parse(formJson(state))).toEqual({ user: 'ada' });
  const back = submitForm(withJson(state, { user: 'ben' }));
  expect(back.check).toEqual({ isWhole: true, value: { user: 'ben', code: 'hush' } });
});

test('a fault goes away when the field is changed', () => {
  const { state } = after(openForm(formOf(booking)), tab, typed('x'), tab, key('up'));
  expect(shown(state)[2]).toBe('           ✗ must be a date: x');
  expect(shown(after(state, key('backspace')).state)[2]).toMatch(/^ {2}Seat/);
});

test('texts of several lines take line breaks and pastes; others make blanks of them', () => {
  const form = openForm(formOf(booking));
  const pasted: Input = { kind: 'paste', text: 'one\ntwo' };
  const { state } = after(form, pasted, tab, tab, tab, tab, pasted, key('j', { ctrl: true }));
  expect(shown(state)[0]).toBe('  Name *   one two');
  expect(shown(after(state, typed('three')).state).slice(4)).toEqual([
    '› Comment  one',
    '           two',
    '           three',
  ]);
});

test('six values are chosen in a popup', () => {
  const form = formOf({ type: 'object', properties: { n: { enum: [1, 2, 3, 4, 5, 6] } } });
  const open = openForm(form);
  expect(after(open, space).outcome).toBe('popup');
  expect(shown(open)).toEqual(['› n  Space: choose']);
  const [field] = fieldsOf(form);
  expect(shown(chooseIn(open, field as NonNullable<typeof field>, 4))).toEqual(['› n  5']);
});

test('a secret is dots, and its fault does not tell it', () => {
  const schema = {
    type: 'object',
    properties: { pin: { type: 'string', writeOnly: true, pattern: '^\\d+$' } },
  };
  const { state } = after(openForm(formOf(schema)), typed('abc'));
  expect(shown(state)).toEqual(['› pin  •••']);
  expect(shown(submitForm(state).state)[1]).toBe('       ✗ must match ^\\d+$');
});

test('objects have headings, and arguments that are edited stand in their fields', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      to: {
        type: 'object',
        description: 'the receiver',
        properties: {
          name: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
        },
      },
      'evil\u202e': { type: 'boolean' },
    },
  };
  const form = openForm(formOf(schema), {
    to: { name: 'Bob', tags: ['a', 'b'] },
    'evil\u202e': true,
  });
  expect(shown(form, 50)).toEqual([
    '  to  the receiver',
    '›   name        Bob',
    '    tags        a                 one in each line',
    '                b',
    '  evil⟨U+202E⟩  [x]',
  ]);
});

const anyInput: fc.Arbitrary<Input> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }).map(typed),
  fc.constantFrom(
    ...[
      tab,
      space,
      key('up'),
      key('down'),
      key('left'),
      key('right'),
      key('backspace'),
      key('enter'),
    ],
    key('w', { ctrl: true }),
    { kind: 'paste', text: 'a\nb' } as const,
  ),
);

test('whatever is typed: lines fit, and the cursor stands in the focused field', () => {
  fc.assert(
    fc.property(
      fc.array(anyInput, { maxLength: 30 }),
      fc.integer({ min: 20, max: 80 }),
      (inputs, width) => {
        let state = openForm(formOf(booking));
        for (const input of inputs)
          state = readFormInput(state, input, contentWidth(state, width)).state;
        const { lines, focused, cursor } = formLines(state, { width });
        for (const line of lines) {
          expect(displayWidth(textOfLine(line))).toBeLessThanOrEqual(width);
          expect(textOfLine(line)).not.toMatch(/\p{Cc}/u);
        }
        expect(focused.end).toBeLessThanOrEqual(lines.length);
        if (cursor !== undefined) {
          expect(cursor.row).toBeGreaterThanOrEqual(focused.start);
          expect(cursor.row).toBeLessThan(focused.end);
          expect(cursor.column).toBeLessThanOrEqual(width);
        }
      },
    ),
    { numRuns: 200 },
  );
});
