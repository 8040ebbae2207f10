import { visibleJson } from '../visible-text.ts';
import { type Draft, isFields, Unfinished } from './shapes.ts';

/** Reads the text of a field for numbers. */
export function numberOf(text: string, isInteger: boolean): number | Unfinished {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) return new Unfinished(text, 'It is a number.');
  return isInteger && !Number.isInteger(value)
    ? new Unfinished(text, 'It is a whole number.')
    : value;
}

/** Reads the text of a field for JSON. */
export function jsonOf(text: string): Draft {
  try {
    return JSON.parse(text) as Draft;
  } catch (error) {
    return new Unfinished(text, `This is no JSON: ${(error as Error).message}`);
  }
}

/** Returns the text that a field shows for a value. */
export function textOf(value: Draft | undefined): string {
  if (value === undefined) return '';
  return value instanceof Unfinished ? value.text : visibleJson(value);
}

/** Returns an object with another value for a member; `undefined` takes the member away. */
export function withMember(value: Draft | undefined, name: string, member: Draft | undefined) {
  const fields = isFields(value) ? (value as Readonly<Record<string, Draft>>) : {};
  if (member !== undefined) return { ...fields, [name]: member };
  return Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));
}
