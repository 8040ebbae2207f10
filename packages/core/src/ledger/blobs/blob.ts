import { setOwn } from '../../base/json.ts';

/** Values whose JSON is longer than this go to the blob store. */
export const blobThresholdBytes = 64 * 1024;
const previewLength = 500;

/** What an event holds in the place of a large value. */
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

/**
 * A key of references, with a further `$` for each time that what looks like one was written down.
 */
const marked = /^\$+blob$/;

/**
 * Values that are what they look like, so that what looks like a reference in them is none: those
 * that readers have turned back, and large ones.
 */
const literals = new WeakSet<object>();

/**
 * Keeps readers from taking anything within a value for a reference, or for something to be turned
 * back: it has been read already.
 */
export function asLiteral<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) literals.add(value);
  return value;
}

/**
 * The key that names the blob, where an object has the form of a reference; `$$blob` and so on in
 * what only looks like one.
 */
function markOf(value: object): string | undefined {
  const { hash, size, preview } = value as Partial<Record<keyof BlobReference, unknown>>;
  if (typeof hash !== 'string' || typeof size !== 'number' || typeof preview !== 'string')
    return undefined;
  // Members that are `undefined` are not there any more when the value comes back from the store.
  const members = Object.entries(value).filter(([, part]) => part !== undefined);
  const mark = members.find(([key, part]) => typeof part === 'string' && marked.test(key))?.[0];
  return members.length === 4 ? mark : undefined;
}

/**
 * Whether a value has the form of a reference. In events only references that the ledger made have
 * it, but for those of older versions.
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
 * Calls `visit` with the objects of a JSON value that have the form of a reference, and with their
 * mark.
 */
function findForms(value: unknown, visit: (form: object, mark: string) => void): void {
  if (typeof value !== 'object' || value === null || literals.has(value)) return;
  const mark = markOf(value);
  if (mark !== undefined) visit(value, mark);
  else for (const part of Object.values(value)) findForms(part, visit);
}

/**
 * The references in a recorded value are handed to `found`. Returns whether there is anything else
 * that readers must turn back.
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
 * A JSON value with something else in the place of its objects that have the form of a reference.
 * Parts without any stay the same objects.
 * @param made gets each object that was made in the place of another one
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
 * A recorded value as it was given: with something else in the place of its references, and with
 * what only looks like a reference turned back. Parts without either stay the same objects.
 */
export function replaceReferences(
  value: unknown,
  replacement: (reference: BlobReference) => unknown,
): unknown {
  const turnBack = (form: object, mark: string): unknown =>
    mark === '$blob'
      ? replacement(form as BlobReference)
      : asLiteral(renamed(form, mark, mark.slice(1)));
  // An object around a reference may look like one itself once the value is in its place.
  return replaceForms(value, turnBack, (copy) =>
    markOf(copy) === undefined ? copy : asLiteral(copy),
  );
}

/** A recorded value with other references, which stays a recorded one. */
export function exchangeReferences(
  value: unknown,
  exchange: (reference: BlobReference) => BlobReference | undefined,
): unknown {
  return replaceForms(value, (form, mark) =>
    mark === '$blob' ? (exchange(form as BlobReference) ?? renamed(form, mark, '$$blob')) : form,
  );
}

/**
 * A given value as it is recorded: what looks like a reference to a blob in it, and is none, gets a
 * further `$` before the key that makes it look so. Without that, models, tools and users could
 * name what others have said.
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
