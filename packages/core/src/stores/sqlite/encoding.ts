import { deepFreeze, isPlainObject, setOwn } from '../../base/json.ts';
import { LedgerUnreadableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { StoredEvent } from '../../ledger/port.ts';
import { decodeEvent, orUnreadable } from '../../ledger/upcast.ts';
import { actorKinds, eventLayouts, type Layout } from './layout.ts';

/**
 * An event on its way to the worker: `fieldsPerEvent` values in a row, without the ledger, which
 * the worker adds.
 */
export type EventFields = (string | number)[];

/** seq, at, type, actor, path, body. */
export const fieldsPerEvent = 6;

/** Members of an event that have a column, or a fixed place in the body. */
const envelopeMembers: ReadonlySet<string> = new Set([
  'v',
  'seq',
  'id',
  'at',
  'type',
  'invocationId',
  'by',
]);
const noMembers: ReadonlySet<string> = new Set();
/** Bit 0: the last value is an object with the members that have no position. */
const extrasBit = 1;

interface Member {
  readonly name: string;
  readonly bit: number;
  readonly nested: CompiledLayout | undefined;
}

interface CompiledLayout {
  readonly members: readonly Member[];
  readonly names: ReadonlySet<string>;
  /** The members that a mask stands for, added as masks occur. */
  readonly byMask: Map<number, readonly Member[]>;
}

function compile(layout: Layout): CompiledLayout {
  const members = layout.members.map((name, i) => {
    const nested = layout.nested?.[name];
    return { name, bit: 2 ** (i + 1), nested: nested === undefined ? undefined : compile(nested) };
  });
  return { members, names: new Set(layout.members), byMask: new Map() };
}

interface CompiledType {
  readonly type: string;
  readonly code: number;
  readonly layout: CompiledLayout;
}

const types: readonly CompiledType[] = Object.entries(eventLayouts).map(([type, layout]) => ({
  type,
  code: layout.code,
  layout: compile(layout),
}));
const typeByName: ReadonlyMap<string, CompiledType> = new Map(
  types.map((type) => [type.type, type]),
);
const typeByCode: ReadonlyMap<number, CompiledType> = new Map(
  types.map((type) => [type.code, type]),
);

type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Appends the fields of an event to `fields`. The texts are JSON, so that the database can join a
 * page of rows to one JSON text. Actor and path are numbers or quoted strings. The body is the
 * inside of an array `"<id>",<mask>,<values…>`, where the mask tells which members of the layout
 * are present.
 */
export function encodeEvent(event: Event, fields: EventFields): void {
  const type = typeByName.get(event.type);
  if (type === undefined)
    throw new TypeError(`An event of the unknown type "${event.type}" cannot be stored.`);
  const path = event.invocationId;
  const values: unknown[] = [event.id];
  encodeMembers(event as unknown as JsonRecord, type.layout, envelopeMembers, path, values);
  if (event.v !== 1) addExtra(values, 1, 'v', event.v);
  const actor = (actorKinds as readonly string[]).indexOf(event.by);
  fields.push(
    event.seq,
    event.at,
    type.code,
    actor < 0 ? JSON.stringify(event.by) : actor,
    path === undefined ? 0 : JSON.stringify(path),
    JSON.stringify(values).slice(1, -1),
  );
}

/** Pushes the mask and the values of the members that are present. */
function encodeMembers(
  object: JsonRecord,
  layout: CompiledLayout,
  skip: ReadonlySet<string>,
  path: string | undefined,
  values: unknown[],
): void {
  const maskAt = values.length;
  let mask = 0;
  let extras: Record<string, unknown> | undefined;
  values.push(0);
  for (const { name, bit, nested } of layout.members) {
    const value = object[name];
    if (value === undefined) continue;
    if (nested !== undefined) {
      if (!isPlainObject(value)) {
        extras = { ...extras, [name]: value };
        continue;
      }
      const inside: unknown[] = [];
      encodeMembers(value, nested, noMembers, undefined, inside);
      values.push(inside);
    } else {
      values.push(
        name === 'callId' && typeof value === 'string' ? shortenCallId(value, path) : value,
      );
    }
    mask += bit;
  }
  for (const name in object) {
    if (!layout.names.has(name) && !skip.has(name) && object[name] !== undefined)
      extras = { ...extras, [name]: object[name] };
  }
  if (extras !== undefined) {
    mask += extrasBit;
    values.push(extras);
  }
  values[maskAt] = mask;
}

function addExtra(values: unknown[], maskAt: number, name: string, value: unknown): void {
  const mask = values[maskAt] as number;
  if ((mask & extrasBit) !== 0) {
    values[values.length - 1] = { ...(values.at(-1) as JsonRecord), [name]: value };
    return;
  }
  values[maskAt] = mask + extrasBit;
  values.push({ [name]: value });
}

/**
 * Shortens the id of a call, which mostly is the path of its agent and a short rest: only the rest
 * is stored. Other ids get a `=` in front.
 */
function shortenCallId(callId: string, path: string | undefined): string {
  if (path === undefined || !callId.startsWith(path)) return `=${callId}`;
  const rest = callId.slice(path.length);
  return rest === '' || rest.startsWith('/') ? rest : `=${callId}`;
}

function restoreCallId(stored: unknown, path: string | undefined): unknown {
  if (typeof stored !== 'string') return stored;
  return stored.startsWith('=') ? stored.slice(1) : `${path}${stored}`;
}

/** A row in the JSON text of a page: seq, at, type, actor, path, and the values of the body. */
export type StoredRow = readonly [
  seq: number,
  at: number,
  type: number,
  actor: number | string,
  path: number | string,
  id: string,
  ...unknown[],
];

/** True for a list, which a row is; `decodeRow` checks the members. */
export function isStoredRow(value: unknown): value is StoredRow {
  return Array.isArray(value);
}

/** Index of the mask in a row. */
const maskPlace = 6;

/** The content of a row for people: the body of a row that cannot be read is a list of values. */
export type RowContents = Readonly<Record<string, unknown>>;

/**
 * Returns the event of a row, frozen. A path that occurred before in the same ledger is stored as
 * the `seq` where it did; `paths` knows these and learns from each row.
 * @throws LedgerUnreadableError
 */
export function decodeRow(row: StoredRow, paths: Map<number, string>, session: string): Event {
  return decodeEvent(eventOfRow(row, paths, session), session);
}

/** Decodes a row as `decodeRow` does, but marks one that this build cannot read. */
export function decodeStoredRow(
  row: StoredRow,
  paths: Map<number, string>,
  session: string,
): StoredEvent {
  const [seq, at, type, actor, path, ...body] = row;
  let contents: RowContents = { seq, at, type, actor, path, body };
  return orUnreadable(
    seq,
    () => contents,
    () => {
      contents = eventOfRow(row, paths, session);
      return decodeEvent(contents, session);
    },
  );
}

function eventOfRow(row: StoredRow, paths: Map<number, string>, session: string): RowContents {
  const [seq, at, code, actor, path, id] = row;
  // Later rows refer to the path of this one, even when the rest of it cannot be read.
  if (typeof path === 'string') paths.set(seq, path);
  const type = typeByCode.get(code);
  if (type === undefined)
    throw unreadable(session, seq, `its type ${code} is not known to this version of Adjutant`);
  if (typeof id !== 'string' || typeof row[maskPlace] !== 'number')
    throw unreadable(session, seq, 'its body is damaged');
  const by = typeof actor === 'number' ? actorKinds[actor] : actor;
  if (by === undefined) throw unreadable(session, seq, `its actor ${actor} is not known`);
  const invocationId = typeof path === 'string' ? path : paths.get(path);
  if (invocationId === undefined && path !== 0)
    throw unreadable(session, seq, `the event ${path} that holds its path is missing`);
  const event: Record<string, unknown> =
    invocationId === undefined
      ? { v: 1, seq, id, at, type: type.type, by }
      : { v: 1, seq, id, at, type: type.type, invocationId, by };
  if (!decodeMembers(row, maskPlace, type.layout, invocationId, event))
    throw unreadable(session, seq, 'its body is damaged');
  return Object.freeze(event);
}

/** Sets the members that the mask at `maskAt` names. Returns true when mask and values fit. */
function decodeMembers(
  values: readonly unknown[],
  maskAt: number,
  layout: CompiledLayout,
  path: string | undefined,
  target: Record<string, unknown>,
): boolean {
  const mask = values[maskAt] as number;
  const members = layout.byMask.get(mask) ?? membersOfMask(layout, mask);
  let place = maskAt;
  for (const { name, nested } of members) {
    const value = values[++place];
    if (nested !== undefined) {
      if (!Array.isArray(value) || typeof value[0] !== 'number') return false;
      const object = {};
      if (!decodeMembers(value, 0, nested, undefined, object)) return false;
      target[name] = Object.freeze(object);
    } else if (typeof value === 'object') target[name] = deepFreeze(value);
    else target[name] = name === 'callId' ? restoreCallId(value, path) : value;
  }
  if ((mask & extrasBit) !== 0) {
    const extras = values[++place];
    if (!isPlainObject(extras)) return false;
    for (const [name, value] of Object.entries(deepFreeze(extras))) setOwn(target, name, value);
  }
  return place === values.length - 1;
}

function membersOfMask(layout: CompiledLayout, mask: number): readonly Member[] {
  const members = layout.members.filter(({ bit }) => (mask & bit) !== 0);
  layout.byMask.set(mask, members);
  return members;
}

function unreadable(session: string, seq: number, reason: string): LedgerUnreadableError {
  return new LedgerUnreadableError({ session, seq, reason });
}
