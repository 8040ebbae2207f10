/** Any JSON value, and text that is not yet one. */
export type Draft =
  | null
  | boolean
  | number
  | string
  | Unfinished
  | readonly Draft[]
  | { readonly [name: string]: Draft };

/** Text of a field that is no value yet, such as `1e` for a number. */
export class Unfinished {
  readonly text: string;
  readonly problem: string;

  constructor(text: string, problem: string) {
    this.text = text;
    this.problem = problem;
  }
}

export interface Member {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

/** Form of a value: what it is edited with. Everything else is edited as JSON. */
export type Shape =
  | { readonly kind: 'text' | 'boolean' | 'json' }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly (string | number | boolean | null)[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'list'; readonly items: unknown };

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Unfinished)
  );
}

/** Returns the form of a value by its JSON Schema; `json` when the value does not fit it. */
export function shapeOf(schema: unknown, value: unknown): Shape {
  if (!isFields(schema)) return { kind: 'json' };
  const choices = choicesOf(schema);
  if (choices !== undefined)
    return value === undefined || choices.includes(value as string)
      ? { kind: 'choice', choices }
      : { kind: 'json' };
  const isOpen = value === undefined || value instanceof Unfinished;
  switch (schema['type']) {
    case 'string':
      return { kind: isOpen || typeof value === 'string' ? 'text' : 'json' };
    case 'boolean':
      return { kind: isOpen || typeof value === 'boolean' ? 'boolean' : 'json' };
    case 'integer':
    case 'number':
      return isOpen || typeof value === 'number'
        ? { kind: 'number', isInteger: schema['type'] === 'integer' }
        : { kind: 'json' };
    case 'object':
      return (isOpen || isFields(value)) && isFields(schema['properties'])
        ? { kind: 'object', members: membersOf(schema, value) }
        : { kind: 'json' };
    case 'array':
      return (isOpen || Array.isArray(value)) && isFields(schema['items'])
        ? { kind: 'list', items: schema['items'] }
        : { kind: 'json' };
    default:
      return { kind: 'json' };
  }
}

type Choice = string | number | boolean | null;

function choicesOf({ enum: several, const: one }: Fields): readonly Choice[] | undefined {
  const all: unknown = one === undefined ? several : [one];
  if (!Array.isArray(all) || all.length === 0) return undefined;
  const isPlain = all.every((choice) => choice === null || typeof choice !== 'object');
  return isPlain ? (all as Choice[]) : undefined;
}

/** Members of the schema, and those that only the value has. */
function membersOf(schema: Fields, value: unknown): readonly Member[] {
  const properties = schema['properties'] as Fields;
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const known = Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    isRequired: required.includes(name),
  }));
  const more = isFields(value) ? Object.keys(value) : [];
  return [
    ...known,
    ...more
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => ({ name, schema: {}, isRequired: false })),
  ];
}

/** Says what a field takes, in few words: "string, email, ≤ 120". */
export function noteOf(schema: unknown): string {
  if (!isFields(schema)) return 'JSON';
  const { type, format, maxLength, minLength, minimum, maximum } = schema;
  const choices = choicesOf(schema);
  const parts = [choices === undefined ? type : 'choice', format];
  const least = minLength ?? wide(minimum);
  const most = maxLength ?? wide(maximum);
  if (least !== undefined) parts.push(`≥ ${String(least)}`);
  if (most !== undefined) parts.push(`≤ ${String(most)}`);
  const words = parts.filter((part) => typeof part === 'string');
  return words.length === 0 ? 'JSON' : words.join(', ');
}

/** A limit that is no more than that of all integers says nothing. */
function wide(limit: unknown): unknown {
  return typeof limit === 'number' && Math.abs(limit) === Number.MAX_SAFE_INTEGER
    ? undefined
    : limit;
}

/** Returns the value that a new field begins with; `undefined`: it has to be chosen or written. */
export function blankOf(schema: unknown): Draft | undefined {
  const shape = shapeOf(schema, undefined);
  switch (shape.kind) {
    case 'text':
      return '';
    case 'boolean':
      return false;
    case 'list':
      return [];
    case 'choice':
      return shape.choices.length === 1 ? shape.choices[0] : undefined;
    case 'object':
      return Object.fromEntries(
        shape.members
          .filter(({ isRequired }) => isRequired)
          .map((member) => [member.name, blankOf(member.schema)] as const)
          .filter((entry): entry is [string, Draft] => entry[1] !== undefined),
      );
    default:
      return undefined;
  }
}

export interface Problem {
  /** Place of the field: `headers.replyTo`, `tags[1]`; empty for the value itself. */
  readonly path: string;
  readonly text: string;
}

export function pathTo(path: string, name: string | number): string {
  if (typeof name === 'number') return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Finds what a form cannot be sent with. The server checks all of the schema. */
export function problemsOf(schema: unknown, value: Draft | undefined, path = ''): Problem[] {
  if (value instanceof Unfinished) return [{ path, text: value.problem }];
  const shape = shapeOf(schema, value);
  if (shape.kind === 'object' && isFields(value))
    return shape.members.flatMap(({ name, schema: member, isRequired }) => {
      const part = value[name] as Draft | undefined;
      const place = pathTo(path, name);
      if (part !== undefined) return problemsOf(member, part, place);
      return isRequired ? [{ path: place, text: 'It is needed.' }] : [];
    });
  if (shape.kind === 'list' && Array.isArray(value))
    return value.flatMap((item: Draft, i) => problemsOf(shape.items, item, pathTo(path, i)));
  if (value === undefined) return [{ path, text: 'It is needed.' }];
  const text = isFields(schema) ? limitProblem(schema, value) : undefined;
  return text === undefined ? [] : [{ path, text }];
}

function limitProblem(schema: Fields, value: Draft): string | undefined {
  const over = (limit: unknown, size: number): limit is number =>
    typeof limit === 'number' && size > limit;
  const under = (limit: unknown, size: number): limit is number =>
    typeof limit === 'number' && size < limit;
  const { maxLength, minLength, maximum, minimum } = schema;
  if (typeof value === 'string') {
    if (over(maxLength, value.length)) return `It has ${value.length} characters of ${maxLength}.`;
    if (under(minLength, value.length)) return `It needs ${minLength} characters.`;
  }
  if (typeof value === 'number') {
    if (over(maximum, value)) return `It is at most ${maximum}.`;
    if (under(minimum, value)) return `It is at least ${minimum}.`;
  }
  return undefined;
}
