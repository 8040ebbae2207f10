import { isPlainObject, type JsonValue } from '../../base/json.ts';

/** Reads a value at a place; `path` names the place in messages. @throws NotParsedError */
export type Parse<Value> = (value: unknown, path: string) => Value;

/** A value that is not as it must be. */
export class NotParsedError extends Error {
  constructor(path: string, expected: string) {
    super(`${path} is not ${expected}`);
  }
}

function check<Value>(expected: string, fits: (value: unknown) => boolean): Parse<Value> {
  return (value, path) => {
    if (!fits(value)) throw new NotParsedError(path, expected);
    return value as Value;
  };
}

export const text = check<string>('a text', (value) => typeof value === 'string');
export const flag = check<boolean>('true or false', (value) => typeof value === 'boolean');
/** JSON has no infinity, but numbers that are read as one. */
export const number = check<number>('a number', (value) => Number.isFinite(value));

export function oneOf<Value extends string | number>(...values: readonly Value[]): Parse<Value> {
  return check(`one of ${values.join(', ')}`, (value) => values.includes(value as Value));
}

const deepest = 100;

/** Any JSON value that is not nested so deep that it could not be written again. */
export const json: Parse<JsonValue> = (value, path) => {
  if (depthOf(value, deepest + 1) > deepest)
    throw new NotParsedError(path, `nested at most ${deepest} deep`);
  return value as JsonValue;
};

function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null || most === 0) return 0;
  let deep = 0;
  for (const part of Object.values(value)) deep = Math.max(deep, depthOf(part, most - 1));
  return deep + 1;
}

export function list<Value>(of: Parse<Value>): Parse<readonly Value[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw new NotParsedError(path, 'a list');
    return value.map((one: unknown, index) => of(one, `${path}[${index}]`));
  };
}

export function record<Value>(of: Parse<Value>): Parse<Readonly<Record<string, Value>>> {
  return (value, path) => {
    if (!isPlainObject(value)) throw new NotParsedError(path, 'an object');
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, of(one, `${path}.${name.slice(0, 40)}`)]),
    );
  };
}

/** A member that may be missing. */
export function optional<Value>(of: Parse<Value>): Parse<Value | undefined> {
  return (value, path) => (value === undefined ? undefined : of(value, path));
}

type Shape<Value> = { readonly [Key in keyof Required<Value>]: Parse<Value[Key]> };

/** An object with these members. Others are left out. */
export function object<Value>(shape: Shape<Value>): Parse<Value> {
  const members = Object.entries<Parse<unknown>>(shape);
  return (value, path) => {
    if (!isPlainObject(value)) throw new NotParsedError(path, 'an object');
    const read = members.flatMap(([name, of]) => {
      const found = of(Object.hasOwn(value, name) ? value[name] : undefined, `${path}.${name}`);
      return found === undefined ? [] : [[name, found] as const];
    });
    return Object.fromEntries(read) as Value;
  };
}
