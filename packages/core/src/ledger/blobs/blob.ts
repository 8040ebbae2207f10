import { setOwn } from '../../base/json.ts';

/** Bytes of JSON above which a value goes to the blob store. */
export const blobThresholdBytes = 64 * 1024;
const previewLength = 500;

/** The reference in an event that stands for a large value. */
export interface BlobReference {
  readonly $blob: string;
  /** SHA-256 of the value's JSON text. */
  readonly hash: string;
  /** Bytes of the value's JSON text in UTF-8. */
  readonly size: number;
  readonly preview: string;
}

export function blobReference(
  address: string,
  hash: string,
  size: number,
  json: string,
): BlobReference {
  return { $blob: address, hash, size, preview: json.slice(0, previewLength) };
}

/** Key of references. It has a further `$` for each time that a look-alike was recorded. */
const marked = /^\$+blob$/;

/**
 * Values without references, even where they look like some: those that readers have restored, and
 * large ones.
 */
const literals = new WeakSet<object>();

/** Marks a value as read: readers then restore nothing within it. */
export function asLiteral<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) literals.add(value);
  return value;
}

/**
 * The key with the blob's address in an object that has the form of a reference; `$$blob` and so on
 * in a look-alike.
 */
function markOf(value: object): string | undefined {
  const { hash, size, preview } = value as Partial<Record<keyof BlobReference, unknown>>;
  if (typeof hash !== 'string' || typeof size !== 'number' || typeof preview !== 'string')
    return undefined;
  // Members that are `undefined` are gone when the value comes back from the store.
  const members = Object.entries(value).filter(([, part]) => part !== undefined);
  const mark = members.find(([key, part]) => typeof part === 'string' && marked.test(key))?.[0];
  return members.length === 4 ? mark : undefined;
}

/**
 * Checks that a value has the form of a reference. In events of this version, only references of
 * the ledger have it; older versions may hold look-alikes.
 */
export function isBlobReference(value: unknown): value is BlobReference {
  return (
    typeof value === 'object' && value !== null && '$blob' in value && markOf(value) === '$blob'
  );
}

function renamed(value: object, mark: string, name: string): object {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key === mark ? name : key, part]),
    ),
  );
}

/**
 * Calls `visit` with each object of a JSON value that has the form of a reference, and with its
 * key.
 */
function findForms(value: unknown, visit: (form: object, mark: string) => void): void {
  if (typeof value !== 'object' || value === null || literals.has(value)) return;
  const mark = markOf(value);
  if (mark !== undefined) visit(value, mark);
  else for (const part of Object.values(value)) findForms(part, visit);
}

/**
 * Calls `found` with the references in a recorded value. Returns true when there are escaped
 * look-alikes, which readers must restore.
 */
export function findReferences(value: unknown, found: (reference: BlobReference) => void): boolean {
  let isEscaped = false;
  findForms(value, (form, mark) => {
    if (mark === '$blob') found(form as BlobReference);
    else isEscaped = true;
  });
  return isEscaped;
}

/**
 * Replaces the objects of a JSON value that have the form of a reference. Parts without any stay
 * the same objects.
 * @param made called with each object that was made in the place of another one
 */
function replaceForms(
  value: unknown,
  replacement: (form: object, mark: string) => unknown,
  made: (copy: object) => object = Object.freeze,
): unknown {
  if (typeof value !== 'object' || value === null || literals.has(value)) return value;
  const mark = markOf(value);
  if (mark !== undefined) return replacement(value, mark);
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [key, part] of Object.entries(value)) {
    const replaced = replaceForms(part, replacement, made);
    if (replaced === part) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    setOwn(copy as Record<string, unknown>, key, replaced);
  }
  return copy === undefined ? value : made(Object.freeze(copy));
}

/**
 * Returns a recorded value as it was given: replaces its references and restores escaped
 * look-alikes. Parts without either stay the same objects.
 */
export function replaceReferences(
  value: unknown,
  replacement: (reference: BlobReference) => unknown,
): unknown {
  const turnBack = (form: object, mark: string): unknown =>
    mark === '$blob'
      ? replacement(form as BlobReference)
      : asLiteral(renamed(form, mark, mark.slice(1)));
  // An object around a reference may look like one itself when the value is in its place.
  return replaceForms(value, turnBack, (copy) =>
    markOf(copy) === undefined ? copy : asLiteral(copy),
  );
}

/** Returns a recorded value with other references; it stays a recorded one. */
export function exchangeReferences(
  value: unknown,
  exchange: (reference: BlobReference) => BlobReference | undefined,
): unknown {
  return replaceForms(value, (form, mark) =>
    mark === '$blob' ? (exchange(form as BlobReference) ?? renamed(form, mark, '$$blob')) : form,
  );
}

/**
 * Escapes a given value for the ledger: a look-alike of a reference gets a further `$` before its
 * key. Without that, models, tools and users could name the values of others.
 */
export function escapeLookAlikes(value: unknown, isReference: (value: object) => boolean): unknown {
  if (typeof value !== 'object' || value === null || isReference(value)) return value;
  const mark = markOf(value);
  if (mark !== undefined) return renamed(value, mark, `$${mark}`);
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [key, part] of Object.entries(value)) {
    if (typeof part !== 'object') continue;
    const escaped = escapeLookAlikes(part, isReference);
    if (escaped === part) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    setOwn(copy as Record<string, unknown>, key, escaped);
  }
  return copy ?? value;
}
