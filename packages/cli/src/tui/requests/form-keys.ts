import { editByKey } from '../editor/edit-keys.ts';
import {
  type Editor,
  insertBreak,
  insertPaste,
  insertPasteInLine,
  insertText,
} from '../editor/editor.ts';
import type { Input } from '../editor/keys.ts';
import { moveRow } from '../editor/rows.ts';
import { type Field, fieldsOf, keyOf } from './field.ts';
import {
  chooseIn,
  type FormState,
  focusedField,
  focusField,
  hasLines,
  isTyped,
  writeIn,
} from './form-state.ts';

/** What the form makes of an input. */
export interface FormReading {
  readonly state: FormState;
  /** `popup`: the choices of the field are to be shown; `unused`: the input is another's. */
  readonly outcome: 'taken' | 'send' | 'popup' | 'unused';
}

/** Reads an input for a form; `width` is that of its text fields. */
export function readFormInput(state: FormState, input: Input, width: number): FormReading {
  const field = focusedField(state);
  if (field === undefined) return { state, outcome: 'unused' };
  const taken = (next: FormState): FormReading => ({ state: next, outcome: 'taken' });
  if (input.kind === 'key') {
    const { key, alt, shift, ctrl } = input;
    if (key === 'enter') return readEnter(state, alt === true);
    if (key === 'tab') return taken(focusField(state, state.focus + (shift ? -1 : 1)));
    if ((key === 'up' || key === 'down') && !ctrl && !alt)
      return taken(moveVertically(state, field, key === 'up' ? -1 : 1, width));
  }
  if (!isTyped(field)) return readChoice(state, field, input);
  const editor = state.editors.get(keyOf(field));
  const edited = editor && edit(editor, input, hasLines(field));
  if (edited === undefined) return { state, outcome: 'unused' };
  return taken(writeIn(state, field, edited));
}

/** Enter goes to the next field, and sends from the last one; with Alt it sends from everywhere. */
function readEnter(state: FormState, isSend: boolean): FormReading {
  const isLast = state.focus === fieldsOf(state.form).length - 1;
  if (isSend || isLast) return { state, outcome: 'send' };
  return { state: focusField(state, state.focus + 1), outcome: 'taken' };
}

function moveVertically(state: FormState, field: Field, by: 1 | -1, width: number): FormState {
  const editor = state.editors.get(keyOf(field));
  const moved = editor && hasLines(field) ? moveRow(editor, by, width) : undefined;
  return moved === undefined ? focusField(state, state.focus + by) : writeIn(state, field, moved);
}

const steps: Readonly<Record<string, number>> = { left: -1, right: 1 };

function readChoice(state: FormState, field: Field, input: Input): FormReading {
  const isSpace = input.kind === 'text' && input.text === ' ';
  const by = input.kind === 'key' ? (steps[input.key] ?? 0) : 0;
  if (!isSpace && by === 0) return { state, outcome: 'unused' };
  if (isSpace && field.kind === 'choice' && field.isPopup) return { state, outcome: 'popup' };
  return { state: isSpace ? toggled(state, field) : marked(state, field, by), outcome: 'taken' };
}

/** The blank checks a box, and takes the next choice. */
function toggled(state: FormState, field: Field): FormState {
  const typed = state.chosen.get(keyOf(field));
  if (field.kind === 'boolean') return chooseIn(state, field, typed !== true);
  if (field.kind !== 'choices') return marked(state, field, 1);
  const places = Array.isArray(typed) ? (typed as readonly number[]) : [];
  const isChecked = places.includes(state.mark);
  const others = places.filter((place) => place !== state.mark);
  return chooseIn(state, field, isChecked ? others : [...others, state.mark]);
}

/** Arrows take the choice beside, and in a field of several values only mark it. */
function marked(state: FormState, field: Field, by: number): FormState {
  if (field.kind === 'choices')
    return { ...state, mark: nextPlace(state.mark, by, field.choices.length) };
  if (field.kind !== 'choice') return state;
  const typed = state.chosen.get(keyOf(field));
  const place = typeof typed === 'number' ? typed : undefined;
  return chooseIn(state, field, nextPlace(place, by, field.choices.length));
}

function nextPlace(place: number | undefined, by: number, count: number): number {
  if (place === undefined) return by > 0 ? 0 : count - 1;
  return (place + by + count) % count;
}

/** Editor after an input of a field; `undefined`: the input is no edit. */
function edit(editor: Editor, input: Input, isLong: boolean): Editor | undefined {
  if (input.kind === 'text') return insertText(editor, input.text);
  if (input.kind === 'key')
    return isLong && input.ctrl && input.key === 'j'
      ? insertBreak(editor)
      : editByKey(editor, input);
  return isLong ? insertPaste(editor, input.text) : insertPasteInLine(editor, input.text);
}
