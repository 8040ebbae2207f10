import type { JsonValue } from 'adjutant';
import { editorWith } from '../editor/editor.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import { type Field, fieldsOf, keyOf } from '../requests/field.ts';
import { formOf } from '../requests/form.ts';
import { chooseIn, type FormState, openForm, submitForm, writeIn } from '../requests/form-state.ts';
import { visibleString } from '../text/visible.ts';
import { type Ask, chosen, numbered } from './ask.ts';

const back = '/back';

/**
 * Asks for the fields of a request one by one, and again for those that have a fault. `undefined`:
 * the person has left the form.
 */
export async function askForm(
  { kind, args, details }: OpenRequest,
  ask: Ask,
): Promise<JsonValue | undefined> {
  let state = openForm(
    formOf(details.inputSchema ?? {}),
    ...(kind === 'input' ? [] : [args as JsonValue]),
  );
  let fields = fieldsOf(state.form);
  for (;;) {
    for (const field of fields) {
      const filled = await fill(state, field, ask);
      if (filled === undefined) return undefined;
      state = filled;
    }
    const submitted = submitForm(state);
    if (submitted.check.isWhole) return submitted.check.value;
    state = submitted.state;
    fields = fields.filter((field) => state.problems.has(keyOf(field)));
    // A fault that no field has cannot be mended by them.
    if (fields.length === 0) return undefined;
  }
}

async function fill(state: FormState, field: Field, ask: Ask): Promise<FormState | undefined> {
  const problem = state.problems.get(keyOf(field));
  const lines = [...(problem === undefined ? [] : [`Attention: ${problem}`]), ...question(field)];
  for (;;) {
    const line = await ask(...lines);
    if (line === undefined || line.trim() === back) return undefined;
    // An empty line leaves the field as it is.
    if (line.trim() === '') return state;
    const next = filled(state, field, line);
    if (next !== undefined) return next;
  }
}

function question(field: Field): string[] {
  const { label, description, isRequired } = field;
  const facts = [
    ...(description === undefined ? [] : [visibleString(description, 'requestLine')]),
    isRequired ? 'required' : 'an empty line leaves it out',
  ];
  const asked = `${visibleString(label, 'requestLine')} (${facts.join('; ')})`;
  if (field.kind === 'boolean') return [asked, ...numbered(['yes', 'no'])];
  if (field.kind === 'list') return [`${asked}, with commas between the values`];
  if (field.kind !== 'choice' && field.kind !== 'choices') return [asked];
  const labels = field.choices.map((choice) => visibleString(choice.label, 'requestLine'));
  const how = field.kind === 'choices' ? ', numbers with commas between them' : '';
  return [`${asked}${how}`, ...numbered(labels)];
}

/** Puts a line into a field. `undefined`: it names no choice. */
function filled(state: FormState, field: Field, line: string): FormState | undefined {
  const parts = line.split(',').map((part) => part.trim());
  switch (field.kind) {
    case 'boolean': {
      const place = chosen(line, 2);
      return place === undefined ? undefined : chooseIn(state, field, place === 0);
    }
    case 'choice': {
      const place = chosen(line, field.choices.length);
      return place === undefined ? undefined : chooseIn(state, field, place);
    }
    case 'choices': {
      const places = parts.map((part) => chosen(part, field.choices.length));
      const all = places.filter((place) => place !== undefined);
      return all.length < places.length ? undefined : chooseIn(state, field, all);
    }
    case 'list':
      return writeIn(state, field, editorWith(parts.join('\n')));
    default:
      return writeIn(state, field, editorWith(line));
  }
}
