import { emptyEditor } from '../editor/editor.ts';
import { rows } from '../editor/rows.ts';
import { sign } from '../text/signs.ts';
import { type Line, type Look, type Span, spansOf, textOfLine } from '../text/spans.ts';
import { visible, visibleString } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine, cutText, wrapLine } from '../text/wrap.ts';
import { type Field, type FormPart, fieldsOf, type Heading, keyOf } from './field.ts';
import { type FormState, focusedField, hasLines, isTyped } from './form-state.ts';

/** A form as it is painted. */
export interface FormLines {
  readonly lines: readonly Line[];
  /** First line of the focused field, and the one behind its last. */
  readonly focused: { readonly start: number; readonly end: number };
  /** Place of the cursor; there is none in a field that is chosen. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface FormLinesOptions {
  readonly width: number;
  readonly ascii?: boolean;
}

const gutter = 2;
const longestRows = 5;
const leastHint = 12;

interface Layout extends FormLinesOptions {
  /** Column of the contents, and their width. */
  readonly column: number;
  readonly content: number;
}

/** Returns the width of the text fields of a form, for `readFormInput`. */
export function contentWidth(state: FormState, width: number): number {
  return layoutOf(state, { width }).content;
}

/** Returns the lines of a form: labels, contents, hints and faults. */
export function formLines(state: FormState, options: FormLinesOptions): FormLines {
  const layout = layoutOf(state, options);
  const focus = focusedField(state);
  const lines: Line[] = [];
  let focused = { start: 0, end: 0 };
  let cursor: FormLines['cursor'];
  for (const part of state.form.parts) {
    const start = lines.length;
    if (part.kind === 'heading') lines.push(headingLine(part));
    else {
      const content = contentOf(state, part, layout, part === focus);
      lines.push(...fieldLines(state, part, layout, content.lines, part === focus));
      if (part !== focus) continue;
      focused = { start, end: lines.length };
      if (content.cursor !== undefined) {
        const { row, column } = content.cursor;
        cursor = { row: start + row, column: layout.column + column };
      }
    }
  }
  const shown = lines.map((line) => cutLine(line, options.width, sign('ellipsis', options.ascii)));
  return { lines: shown, focused, ...(cursor === undefined ? {} : { cursor }) };
}

function layoutOf({ form }: FormState, options: FormLinesOptions): Layout {
  const widest = fieldsOf(form).reduce(
    (most, field) => Math.max(most, displayWidth(labelOf(field))),
    0,
  );
  const column = Math.min(widest, Math.floor(options.width / 3)) + 2 * gutter;
  return { ...options, column, content: Math.max(4, options.width - column) };
}

function labelOf(part: FormPart): string {
  const indent = ' '.repeat(gutter * Math.max(0, part.path.length - 1));
  return `${indent}${visibleString(part.label, 'requestLine')}${part.isRequired ? ' *' : ''}`;
}

function headingLine(heading: Heading): Line {
  const label = { text: `${' '.repeat(gutter)}${labelOf(heading)}`, bold: true };
  const { description } = heading;
  return description === undefined ? [label] : [label, { text: '  ' }, ...hintSpans(description)];
}

function hintSpans(text: string): Span[] {
  return spansOf(visible(text, 'requestLine').pieces, { dim: true });
}

interface Content {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** The content of a field: its text, or its choices. */
function contentOf(state: FormState, field: Field, layout: Layout, isFocused: boolean): Content {
  if (!isTyped(field))
    return { lines: wrapLine(choiceSpans(state, field, layout, isFocused), layout.content) };
  const editor = state.editors.get(keyOf(field)) ?? emptyEditor;
  const isSecret = field.kind === 'text' && field.isSecret;
  const height = hasLines(field) ? longestRows : 1;
  const mask = isSecret ? sign('bullet', layout.ascii) : undefined;
  const { rows: lines, cursor } = rows(editor, layout.content, height, mask);
  return isFocused ? { lines, cursor } : { lines };
}

function choiceSpans(
  state: FormState,
  field: Field,
  { ascii }: Layout,
  isFocused: boolean,
): Span[] {
  const typed = state.chosen.get(keyOf(field));
  if (field.kind === 'boolean') return [{ text: typed === true ? '[x]' : '[ ]' }];
  if (field.kind === 'choice' && field.isPopup) {
    const chosen = typeof typed === 'number' ? field.choices[typed] : undefined;
    if (chosen === undefined) return [{ text: 'Space: choose', dim: true }];
    return spansOf(visible(chosen.label, 'requestLine').pieces);
  }
  if (field.kind !== 'choice' && field.kind !== 'choices') return [];
  const isRadio = field.kind === 'choice';
  const chosen = isRadio ? [typed] : ((typed as readonly number[] | undefined) ?? []);
  return field.choices.flatMap(({ label }, at) => {
    const isMarked = isFocused && (isRadio ? at === typed : at === state.mark);
    const look: Look = isMarked ? { bold: true } : {};
    const box = boxOf(isRadio, chosen.includes(at), ascii === true);
    const gap = at === 0 ? [] : [{ text: '  ' }];
    const words = spansOf(visible(label, 'requestLine').pieces, look);
    return [...gap, { ...look, text: `${box} ` }, ...words];
  });
}

function boxOf(isRadio: boolean, isChosen: boolean, ascii: boolean): string {
  if (!isRadio) return isChosen ? '[x]' : '[ ]';
  return isChosen ? `(${sign('bullet', ascii)})` : '( )';
}

function fieldLines(
  state: FormState,
  field: Field,
  layout: Layout,
  content: readonly Line[],
  isFocused: boolean,
): Line[] {
  const { column, width, ascii } = layout;
  const mark: Span = isFocused
    ? { text: `${sign('user', ascii)} `, color: 'magenta' }
    : { text: ' '.repeat(gutter) };
  const label = cutText(labelOf(field), column - 2 * gutter, sign('ellipsis', ascii));
  const room = column - gutter - displayWidth(label);
  const indent: Span = { text: ' '.repeat(column) };
  const first: Line = [mark, { text: `${label}${' '.repeat(room)}` }, ...(content[0] ?? [])];
  const rest = content.slice(1).map((line): Line => [indent, ...line]);
  return [
    withHint(first, hintOf(field), width, ascii),
    ...rest,
    ...problemLines(state, field, layout),
  ];
}

function problemLines(state: FormState, field: Field, { column, content, ascii }: Layout): Line[] {
  const problem = state.problems.get(keyOf(field));
  if (problem === undefined) return [];
  const fault: Line = [
    { text: `${sign('failed', ascii)} `, color: 'red' },
    ...spansOf(visible(problem, 'requestLine').pieces, { color: 'red' }),
  ];
  return wrapLine(fault, content, gutter).map((line) => [{ text: ' '.repeat(column) }, ...line]);
}

const formatHints: Readonly<Record<string, string>> = {
  date: 'date, YYYY-MM-DD',
  'date-time': 'date and time, YYYY-MM-DDThh:mm:ssZ',
  email: 'email address',
  uri: 'address',
};

/** The description of a field, and the form of what is typed. */
function hintOf(field: Field): string {
  const form =
    field.kind === 'text'
      ? formatHints[field.format ?? '']
      : { list: 'one in each line', json: 'JSON' }[field.kind as string];
  return [field.description, form].filter((part) => part !== undefined).join(' · ');
}

/** Puts the hint at the right end of a line, as far as it fits. */
function withHint(line: Line, hint: string, width: number, ascii = false): Line {
  const used = displayWidth(textOfLine(line));
  const left = width - used - gutter;
  if (hint === '' || left < leastHint) return line;
  const shown = cutLine(hintSpans(hint), left, sign('ellipsis', ascii));
  const gap = width - used - displayWidth(textOfLine(shown));
  return [...line, { text: ' '.repeat(gap) }, ...shown];
}
