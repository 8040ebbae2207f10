/** Any value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** The type of a value when all that it holds is JSON; else one that nothing fits. */
type JsonOf<Value> = Value extends JsonValue | undefined
  ? Value
  : Value extends (...args: never[]) => unknown
    ? never
    : { readonly [Key in keyof Value]: JsonOf<Value[Key]> };

/**
 * Gives the value of an interface as JSON. Interfaces have no index signature, so TypeScript takes
 * none of them for a `JsonObject`, whatever they hold.
 */
export function asJson<Value extends object>(value: Value & JsonOf<Value>): JsonObject {
  return value as JsonObject;
}

/**
 * Freezes a value and everything reachable from it; a part that is already frozen is taken as
 * wholly frozen.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value)) return value;
  // Half the time of `for … in` with objects of many shapes, and every event passes here.
  for (const part of Object.values(value))
    if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

/**
 * JSON with object keys in sorted order, so that equal values give equal text. Members that are
 * `undefined` are left out.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    let text = '[';
    for (let i = 0; i < value.length; i++) text += (i === 0 ? '' : ',') + canonicalJson(value[i]);
    return `${text}]`;
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return canonicalJson((value as { toJSON(): unknown }).toJSON());
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const part = (value as Record<string, unknown>)[key];
    if (part === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonicalJson(part)}`;
  }
  return `${text}}`;
}

/** The place and the reason for which a value is not JSON. `path` is like `$.items[2].price`. */
export interface JsonDefect {
  readonly path: string;
  readonly found: string;
}

/** Levels of nesting of a value that is taken in. Code that walks through values is recursive. */
const mostLevels = 1_000;

/**
 * The first part of `value` that JSON cannot hold, or `undefined` when all of it can be held.
 * `undefined` members of an object are allowed, because JSON leaves them out.
 */
export function findJsonDefect(
  value: unknown,
  path = '$',
  ancestors: readonly object[] = [],
): JsonDefect | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { path, found: String(value) };
    case 'object':
      return value === null ? undefined : findObjectDefect(value, path, ancestors);
    default:
      return { path, found: typeof value };
  }
}

function findObjectDefect(
  value: object,
  path: string,
  ancestors: readonly object[],
): JsonDefect | undefined {
  if (ancestors.includes(value)) return { path, found: 'a reference to one of its own ancestors' };
  if (ancestors.length >= mostLevels)
    return { path: `${path.slice(0, 60)}…`, found: `more than ${mostLevels} levels` };
  const inside = [...ancestors, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const defect = findJsonDefect(value[i], `${path}[${i}]`, inside);
      if (defect) return defect;
    }
    return undefined;
  }
  if (!isPlainObject(value))
    return { path, found: `an instance of ${value.constructor?.name ?? 'an unnamed class'}` };
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const defect = findJsonDefect(part, `${path}.${key}`, inside);
    if (defect) return defect;
  }
  return undefined;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A JSON copy of a value, and the paths at which something that is not JSON was replaced. */
export interface JsonCoercion {
  readonly value: JsonValue;
  readonly coerced: readonly string[];
}

/**
 * Makes any value JSON and never throws. An instance of a class becomes the output of
 * `JSON.stringify`. Anything else that JSON cannot hold becomes its string form, such as `[object
 * Map]`; `coerced` lists the places.
 */
export function coerceToJson(value: unknown): JsonCoercion {
  const coerced: string[] = [];
  return { value: coercePart(value, '$', [], coerced), coerced };
}

function coercePart(
  value: unknown,
  path: string,
  ancestors: readonly object[],
  coerced: string[],
): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'object' && !ancestors.includes(value)) {
    const inside = [...ancestors, value];
    if (Array.isArray(value))
      return value.map((part, i) => coercePart(part, `${path}[${i}]`, inside, coerced));
    if (isPlainObject(value)) {
      const copy: Record<string, JsonValue> = {};
      for (const [key, part] of Object.entries(value)) {
        if (part !== undefined)
          setOwn(copy, key, coercePart(part, `${path}.${key}`, inside, coerced));
      }
      return copy;
    }
  }
  coerced.push(path);
  return describeForeign(value, ancestors);
}

/** Assigning to `__proto__` would set the prototype and lose the member. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else target[key] = value;
}

function describeForeign(value: unknown, ancestors: readonly object[]): JsonValue {
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value === 'object' && value !== null && ancestors.includes(value)) return '[Circular]';
  if (typeof value !== 'object') return String(value);
  try {
    const text = JSON.stringify(value);
    // Maps, responses and similar objects hide their content from JSON: `{}` would look empty.
    const isHidden =
      text === undefined ||
      (text === '{}' && typeof (value as { toJSON?: unknown }).toJSON !== 'function');
    return isHidden ? stringForm(value) : (JSON.parse(text) as JsonValue);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function stringForm(value: object | null): string {
  const text = String(value);
  return text === '[object Object]' && value?.constructor.name
    ? `[object ${value.constructor.name}]`
    : text;
}

/** Equality of two JSON values, whatever the order of the keys of their objects. */
export function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}
