import type { JsonObject, JsonValue } from 'adjutant';
import type { Field } from './field.ts';

/**
 * Content of a field as it was typed: a text, a checked box, the place of a choice, or the places
 * of several. `undefined`: nobody has touched it.
 */
export type Typed = string | boolean | number | readonly number[] | undefined;

/** Value of a field, or why there is none. Without both the field is left out. */
export interface FieldCheck {
  readonly value?: JsonValue;
  /** The fault, to stand behind the name of the field: `must be a date: 1815-12-1`. */
  readonly problem?: string;
}

/** Checks what was typed into a field. */
export function checkField(field: Field, typed: Typed): FieldCheck {
  if (isLeftEmpty(field, typed)) return emptyCheck(field);
  switch (field.kind) {
    case 'boolean':
      return { value: typed === true };
    case 'choice':
      return { value: field.choices[typed as number]?.value ?? null };
    case 'choices': {
      const places = [...(typed as readonly number[])].sort((a, b) => a - b);
      return checkCount(
        field.schema,
        places.map((place) => field.choices[place]?.value ?? null),
      );
    }
    case 'number':
      return checkNumber(String(typed), field.schema, field.isInteger);
    case 'text':
      return checkText(field, String(typed));
    case 'list':
      return checkList(field, String(typed));
    case 'json':
      return checkJson(String(typed));
  }
}

/** Checks whether nothing stands in a field. */
export function isLeftEmpty(field: Field, typed: Typed): boolean {
  if (typed === undefined) return true;
  if (typeof typed === 'string') return field.kind === 'text' ? typed === '' : typed.trim() === '';
  return Array.isArray(typed) && typed.length === 0;
}

function emptyCheck(field: Field): FieldCheck {
  if (!field.isRequired) return {};
  if (field.takesNull) return { value: null };
  if (field.kind === 'boolean') return { value: false };
  if (field.kind === 'list' || field.kind === 'choices') return checkCount(field.schema, []);
  const { minLength, pattern, format } = field.schema;
  const takesNothing =
    field.kind === 'text' &&
    pattern === undefined &&
    format === undefined &&
    (minLength === 0 || minLength === undefined);
  // An empty text is a text, but a person who leaves a required field empty has overlooked it.
  return takesNothing && minLength === 0 ? { value: '' } : { problem: 'is required' };
}

function checkNumber(typed: string, schema: JsonObject, isInteger: boolean): FieldCheck {
  const text = typed.trim();
  const value = Number(text);
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(value);
  if (!isNumber) return { problem: `must be a number: ${text}` };
  if (isInteger && !Number.isInteger(value)) return { problem: `must be a whole number: ${text}` };
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const limits = [
    [minimum, '≥', (limit: number) => value >= limit],
    [maximum, '≤', (limit: number) => value <= limit],
    [exclusiveMinimum, '>', (limit: number) => value > limit],
    [exclusiveMaximum, '<', (limit: number) => value < limit],
    [multipleOf, 'a multiple of', (limit: number) => isMultiple(value, limit)],
  ] as const;
  for (const [limit, words, holds] of limits)
    if (typeof limit === 'number' && !holds(limit))
      return { problem: `must be ${words} ${limit}: ${text}` };
  return { value };
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

const formatNames = {
  date: 'a date',
  'date-time': 'a date and time',
  email: 'an email address',
  uri: 'an address',
};
const longestMatched = 1_000;

function checkText({ schema, ...field }: Field & { kind: 'text' }, typed: string): FieldCheck {
  const said = field.isSecret ? '' : `: ${typed}`;
  if (field.format !== undefined && !hasFormat[field.format](typed.trim()))
    return { problem: `must be ${formatNames[field.format]}${said}` };
  const value = field.format === undefined ? typed : typed.trim();
  const length = [...value].length;
  const { minLength, maxLength, pattern } = schema;
  if (typeof minLength === 'number' && length < minLength)
    return { problem: `must have at least ${characters(minLength)}, has ${length}` };
  if (typeof maxLength === 'number' && length > maxLength)
    return { problem: `must have at most ${characters(maxLength)}, has ${length}` };
  if (typeof pattern === 'string' && length <= longestMatched && !matches(value, pattern))
    return { problem: `must match ${pattern}${said}` };
  return { value };
}

function characters(count: number): string {
  return `${count} character${count === 1 ? '' : 's'}`;
}

/** The schema may have a pattern that is none here; then the tool itself checks. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

const hasFormat = {
  date: isDate,
  'date-time': isDateTime,
  email: (text: string): boolean => /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uri: (text: string): boolean => /^[a-z][a-z\d+.-]*:/i.test(text) && URL.canParse(text),
} as const;

const dateTime = new RegExp(
  [
    String.raw`^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<hour>\d{2}):(?<minute>\d{2})`,
    String.raw`(?::(?<second>\d{2})(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})$`,
  ].join(''),
);

function isDateTime(text: string): boolean {
  const { date = '', hour, minute, second = 0 } = dateTime.exec(text)?.groups ?? {};
  return isDate(date) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 61;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function checkList({ schema, of }: Field & { kind: 'list' }, typed: string): FieldCheck {
  const items = schema['items'] as JsonObject;
  const lines = typed.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line, at }]));
  const values: JsonValue[] = [];
  for (const { line, at } of lines) {
    const text = line.trim();
    const { value, problem } =
      of === 'text'
        ? checkText(textField(items), text)
        : checkNumber(text, items, of === 'integer');
    if (problem !== undefined) return { problem: `line ${at + 1} ${problem}` };
    values.push(value ?? null);
  }
  return checkCount(schema, values);
}

function textField(schema: JsonObject): Field & { kind: 'text' } {
  const { format } = schema;
  const isKnown = typeof format === 'string' && format in hasFormat;
  return {
    kind: 'text',
    ...(isKnown ? { format: format as keyof typeof hasFormat } : {}),
    isLong: false,
    isSecret: false,
    path: [],
    label: '',
    isRequired: true,
    takesNull: false,
    schema,
  };
}

function checkCount(schema: JsonObject, values: JsonValue[]): FieldCheck {
  const { minItems, maxItems, uniqueItems } = schema;
  if (typeof minItems === 'number' && values.length < minItems)
    return { problem: `must have at least ${entries(minItems)}, has ${values.length}` };
  if (typeof maxItems === 'number' && values.length > maxItems)
    return { problem: `must have at most ${entries(maxItems)}, has ${values.length}` };
  const texts = values.map((value) => JSON.stringify(value));
  const twice = texts.find((text, at) => texts.indexOf(text) !== at);
  if (uniqueItems === true && twice !== undefined)
    return { problem: `must not have an entry twice: ${twice}` };
  return { value: values };
}

function entries(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

function checkJson(typed: string): FieldCheck {
  try {
    return { value: JSON.parse(typed) as JsonValue };
  } catch (error) {
    return { problem: `must be JSON: ${(error as SyntaxError).message}` };
  }
}
