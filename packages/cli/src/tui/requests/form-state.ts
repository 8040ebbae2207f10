import type { JsonValue } from 'adjutant';
import { type Editor, editorText, editorWith } from '../editor/editor.ts';
import { checkField, type Typed } from './check-field.ts';
import {
  checkForm,
  type FormCheck,
  firstTyped,
  partialValue,
  type TypedForm,
} from './check-form.ts';
import { type Field, type Form, fieldsOf, keyOf } from './field.ts';

/** A form that a person fills in. It never changes: each act gives another one. */
export interface FormState {
  readonly form: Form;
  /** Editors of the fields that are typed, by the keys of the fields. */
  readonly editors: ReadonlyMap<string, Editor>;
  /** Content of the fields that are chosen. */
  readonly chosen: ReadonlyMap<string, Typed>;
  /** Faults that were found, by the keys of the fields. */
  readonly problems: ReadonlyMap<string, string>;
  /** Place of the focused field among the fields. */
  readonly focus: number;
  /** Place of the marked choice in a field of several values. */
  readonly mark: number;
}

/** Returns a form to be filled in: empty, or with the arguments that are edited. */
export function openForm(form: Form, given?: JsonValue): FormState {
  const typed = firstTyped(form, given);
  const texts = fieldsOf(form).filter(isTyped);
  const editors = texts.map((field): [string, Editor] => {
    const text = typed.get(keyOf(field));
    return [keyOf(field), editorWith(typeof text === 'string' ? text : '')];
  });
  const chosen = new Map(typed);
  for (const field of texts) chosen.delete(keyOf(field));
  return { form, editors: new Map(editors), chosen, problems: new Map(), focus: 0, mark: 0 };
}

/** Checks whether the content of a field is a text. */
export function isTyped({ kind }: Field): boolean {
  return kind === 'text' || kind === 'number' || kind === 'list' || kind === 'json';
}

/** Checks whether the text of a field may have several lines. */
export function hasLines(field: Field): boolean {
  return field.kind === 'list' || field.kind === 'json' || (field.kind === 'text' && field.isLong);
}

/** Returns the field that has the focus; `undefined` in a form without fields. */
export function focusedField({ form, focus }: FormState): Field | undefined {
  return fieldsOf(form)[focus];
}

/** Returns what stands in all fields. */
function typedIn({ editors, chosen }: FormState): TypedForm {
  const texts = [...editors].map(([key, editor]): [string, Typed] => [key, editorText(editor)]);
  return new Map<string, Typed>([...chosen, ...texts]);
}

/** Moves the focus, within the fields; the field that is left is checked. */
export function focusField(state: FormState, place: number): FormState {
  const last = fieldsOf(state.form).length - 1;
  const focus = Math.max(0, Math.min(place, last));
  return { ...checkedField(state), focus, mark: 0 };
}

/** Puts a choice into a field, as a popup does. */
export function chooseIn(state: FormState, field: Field, typed: Typed): FormState {
  const chosen = new Map([...state.chosen, [keyOf(field), typed]]);
  return withoutProblem({ ...state, chosen }, field);
}

/** Puts a text into the editor of a field. */
export function writeIn(state: FormState, field: Field, editor: Editor): FormState {
  const editors = new Map([...state.editors, [keyOf(field), editor]]);
  const isSame = state.editors.get(keyOf(field))?.atoms === editor.atoms;
  return isSame ? { ...state, editors } : withoutProblem({ ...state, editors }, field);
}

/** Checks the form whole. The first field that has a fault gets the focus. */
export function submitForm(state: FormState): {
  readonly state: FormState;
  readonly check: FormCheck;
} {
  const check = checkForm(state.form, typedIn(state));
  if (check.isWhole) return { state: { ...state, problems: new Map() }, check };
  const { problems } = check;
  const focus = fieldsOf(state.form).findIndex((field) => problems.has(keyOf(field)));
  return { state: { ...state, problems, focus: Math.max(0, focus), mark: 0 }, check };
}

/** Returns the form as JSON for an editor, without what has a fault and what is secret. */
export function formJson(state: FormState): string {
  const { parts } = state.form;
  const form = { parts: parts.filter((part) => part.kind !== 'text' || !part.isSecret) };
  return `${JSON.stringify(partialValue(form, typedIn(state)), undefined, 2)}\n`;
}

/** Returns the form filled in with a value; what is secret stays, as the editor did not have it. */
export function withJson(state: FormState, value: JsonValue): FormState {
  const opened = openForm(state.form, value);
  const secrets = fieldsOf(state.form)
    .filter((field) => field.kind === 'text' && field.isSecret)
    .flatMap((field): [string, Editor][] => {
      const editor = state.editors.get(keyOf(field));
      return editor === undefined ? [] : [[keyOf(field), editor]];
    });
  return { ...opened, editors: new Map([...opened.editors, ...secrets]), focus: state.focus };
}

/** Returns the names of members for which the form has no field. */
export function unknownNames({ form }: FormState, value: JsonValue): readonly string[] {
  const isWhole = form.parts.some(({ path }) => path.length === 0);
  if (isWhole || value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return Object.keys(value).filter((name) => form.parts.every(({ path }) => path[0] !== name));
}

function checkedField(state: FormState): FormState {
  const field = focusedField(state);
  if (field === undefined) return state;
  const typed = typedIn(state).get(keyOf(field));
  const { problem } = checkField(field, typed);
  // An empty field is no fault before the form is sent.
  if (problem === undefined || problem === 'is required') return withoutProblem(state, field);
  return { ...state, problems: new Map([...state.problems, [keyOf(field), problem]]) };
}

function withoutProblem(state: FormState, field: Field): FormState {
  const problems = new Map(state.problems);
  problems.delete(keyOf(field));
  return { ...state, problems };
}
