import { sha256 } from '../../base/hash.ts';
import { setOwn } from '../../base/json.ts';
import type { EventDraft, EventOf, EventType } from '../event.ts';
import { type BlobReference, blobReference, blobThresholdBytes, escapeLookAlikes } from './blob.ts';

/** A large value on its way to the blob store. */
export interface LargeValue {
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly value: unknown;
  /** The reference in its place. */
  readonly reference: BlobReference;
}

/** Estimates the length of the JSON of a value, and counts no further than `limit`. */
function lengthUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  // Not `for … in`: it is several times slower with frozen objects and with arrays.
  for (const key of Object.keys(value)) {
    length += key.length + 4 + lengthUpTo((value as Record<string, unknown>)[key], limit - length);
    if (length > limit) return length;
  }
  return length;
}

/** Largest number of JSON bytes of one character: control characters are written as `\\u0001`. */
const longestCharacter = 6;
const shortLength = blobThresholdBytes / longestCharacter;

/** True when the JSON of a value is certainly short enough to stay, whatever its characters are. */
function isShort(value: unknown): boolean {
  return lengthUpTo(value, shortLength) <= shortLength;
}

/** Returns the address under which the store will keep these bytes. */
type AddressOf = (bytes: Uint8Array) => string;

const encoder = new TextEncoder();

/**
 * Searches below the first `kept` levels of a value, which readers rely on, and replaces only parts
 * below them.
 */
function replaceBelow(value: unknown, kept: number, taken: TakenValue[]): unknown {
  if (kept === 0 || typeof value !== 'object' || value === null)
    return replaceLarge(value, taken).value;
  const parts: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...value };
  for (const [key, part] of Object.entries(parts)) {
    if (!isShort(part))
      setOwn(parts as Record<string, unknown>, key, replaceBelow(part, kept - 1, taken));
  }
  return parts;
}

/**
 * A value for the blob store. `reference` stands in its place. It gets its members when it is sure
 * that it stays there.
 */
interface TakenValue {
  readonly value: unknown;
  readonly reference: BlobReference;
}

/** A value as it stays in the event. */
interface Remaining {
  readonly value: unknown;
  /** Estimated length of its JSON, in characters. */
  readonly length: number;
  /** Bytes of the JSON of the given value. */
  readonly givenBytes: number;
}

/** Estimated length of the JSON of a reference. */
const referenceLength = 700;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/**
 * Takes large parts out of a value. Each part is measured once, from the inside out, so a value
 * with a thousand levels takes no longer than a flat one.
 */
function replaceLarge(value: unknown, taken: TakenValue[]): Remaining {
  if (typeof value !== 'object' || value === null || isShort(value)) {
    const givenBytes = bytesOf(value);
    return givenBytes > blobThresholdBytes
      ? takeOut(value, givenBytes, taken)
      : { value, length: lengthUpTo(value, blobThresholdBytes), givenBytes };
  }
  const before = taken.length;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...value };
  let length = 2;
  let givenBytes = 2;
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const rest = replaceLarge(part, taken);
    length += key.length + 4 + rest.length;
    givenBytes += rest.givenBytes + (Array.isArray(value) ? 1 : bytesOf(key) + 2);
    if (rest.value !== part) setOwn(copy as Record<string, unknown>, key, rest.value);
  }
  const isReplaced = taken.length > before;
  if (isReplaced && length <= blobThresholdBytes) return { value: copy, length, givenBytes };
  if (givenBytes <= blobThresholdBytes) return { value, length, givenBytes };
  // The whole value goes out, with everything that was taken out of it.
  taken.length = before;
  return takeOut(value, givenBytes, taken);
}

function takeOut(value: unknown, givenBytes: number, taken: TakenValue[]): Remaining {
  const reference = {} as BlobReference;
  taken.push({ value, reference });
  return { value: reference, length: referenceLength, givenBytes };
}

/** Fills in the members of the reference. */
function stored({ value, reference }: TakenValue, addressOf: AddressOf): LargeValue {
  const json = JSON.stringify(value);
  const bytes = encoder.encode(json);
  const address = addressOf(bytes);
  return {
    address,
    bytes,
    value,
    reference: Object.assign(reference, blobReference(address, sha256(bytes), bytes.length, json)),
  };
}

type Member<Type extends EventType> = Exclude<
  keyof EventOf<Type>,
  'v' | 'seq' | 'id' | 'at' | 'type' | 'by' | 'invocationId'
>;

/**
 * Members whose size users, models and tools decide, by event type. The other members are always
 * small. To measure all members of every event would cost more than all other work on it.
 */
const measuredMembers: { readonly [Type in EventType]: readonly Member<Type>[] } = {
  user: ['text', 'parts'],
  assistant: ['text', 'output', 'providerMetadata'],
  thought: ['text', 'providerMetadata'],
  tool_call: ['args', 'providerMetadata'],
  tool_attempt: [],
  tool_result: ['result', 'next', 'editedArgs', 'notes'],
  tool_yield: ['args', 'request'],
  tool_input: ['input', 'text'],
  state_change: ['changes'],
  invocation_start: ['input'],
  invocation_yield: [],
  invocation_resume: [],
  invocation_end: ['output', 'error', 'next'],
  invocation_reopen: ['reason'],
  model_start: ['recipe'],
  model_end: ['error'],
  handoff: ['reason'],
  decision: ['reasoning', 'data', 'tell'],
  compaction: ['covers', 'summary', 'dropped'],
  artifact: [],
  error: ['error'],
  cancel: ['reason'],
  memory: ['text'],
  plan: ['goal', 'subtasks'],
  plan_update: ['error'],
};

/**
 * Members whose form readers rely on, with the number of levels that stay in the event at any size.
 */
const keptLevels: Readonly<Record<string, number>> = {
  parts: 2,
  subtasks: 2,
  result: 1,
  changes: 2,
  data: 1,
  input: 1,
  error: 1,
  next: 2,
  recipe: 2,
  request: 1,
  covers: 1,
  notes: 1,
};

const nothingLarge: readonly LargeValue[] = [];

/** An event as it is recorded, and its large values. */
export interface Recordable<Draft> {
  readonly draft: Draft;
  readonly large: readonly LargeValue[];
  /** True when the event holds escaped look-alikes, which readers must restore. */
  readonly isEscaped: boolean;
}

/**
 * Takes values of more than 64 KB of JSON out of an event, and puts references in their places.
 * Look-alikes of references are escaped. A large value inside an object is taken out alone if the
 * rest is then small enough.
 * @param isReference returns true for parts of the given event that are references all the same;
 * default: none is
 */
export function recordable<Draft extends EventDraft>(
  given: Draft,
  addressOf: AddressOf,
  isReference?: (value: object) => boolean,
): Recordable<Draft> {
  const { draft, large } = extractLargeValues(given, addressOf);
  if (holdsNothingGiven(draft)) return { draft: draft as Draft, large, isEscaped: false };
  const made = new Set<object>(large.map(({ reference }) => reference));
  const escaped = escapeLookAlikes(
    draft,
    (value) => made.has(value) || isReference?.(value) === true,
  );
  return { draft: escaped as Draft, large, isEscaped: escaped !== draft };
}

/**
 * Checks that an event holds only text of the runtime itself. A search in all events would cost
 * more than folding them.
 */
function holdsNothingGiven(draft: EventDraft): boolean {
  switch (draft.type) {
    case 'model_start':
      return draft.recipe.contents === undefined;
    case 'model_end':
      return draft.error === undefined;
    case 'tool_attempt':
    case 'invocation_resume':
      return true;
    default:
      return false;
  }
}

function extractLargeValues(
  draft: EventDraft,
  addressOf: AddressOf,
): { readonly draft: EventDraft; readonly large: readonly LargeValue[] } {
  // Nearly all recipes have no contents, and so nothing large.
  if (draft.type === 'model_start' && draft.recipe.contents === undefined)
    return { draft, large: nothingLarge };
  const members: readonly string[] = measuredMembers[draft.type];
  const values = draft as Readonly<Record<string, unknown>>;
  let taken: TakenValue[] | undefined;
  let fields: Record<string, unknown> | undefined;
  for (const member of members) {
    const value = values[member];
    if (value === undefined || isShort(value)) continue;
    taken ??= [];
    fields ??= { ...values };
    fields[member] = replaceBelow(value, keptLevels[member] ?? 0, taken);
  }
  if (fields === undefined || taken === undefined) return { draft, large: nothingLarge };
  return {
    draft: fields as EventDraft,
    large: taken.map((value) => stored(value, addressOf)),
  };
}
