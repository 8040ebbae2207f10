import { defined } from '../../base/defined.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type {
  InboxEntry,
  InboxItem,
  RequestDraft,
  RequestRow,
  Send,
  SessionListing,
  SharedWrite,
} from '../../ledger/port.ts';
import {
  authenticationCode,
  derivedKey,
  type SealKey,
  seal,
  sealText,
  unseal,
  unsealText,
} from './cipher.ts';
import { SealBrokenError } from './errors.ts';
import type { Segment, SessionKeys } from './keys/session-keys.ts';

/**
 * The owner of sealed content. It is part of every place, so that nothing can be moved to another
 * tenant or app.
 */
export interface SealScope {
  readonly tenant: string;
  readonly app: string;
}

/** Returns the JSON text that names a place. Content that is sealed there opens nowhere else. */
export function placeOf(
  { tenant, app }: SealScope,
  kind: string,
  ...parts: readonly (string | number | null | undefined)[]
): string {
  return JSON.stringify([kind, tenant, app, ...parts.map((part) => part ?? null)]);
}

/**
 * Returns the key of a segment.
 * @throws SealBrokenError when the key was lost
 */
export function keyOf({ sealKey }: Segment, what: string): SealKey {
  if (sealKey === undefined) throw new SealBrokenError({ what });
  return sealKey;
}

function opened(text: string | undefined, what: string): JsonValue {
  if (text === undefined) throw new SealBrokenError({ what });
  return JSON.parse(text) as JsonValue;
}

/** The entry of a session in the list, with the length of its ledger at that time. */
export interface ListEntry {
  readonly title?: string | undefined;
  readonly user?: string | undefined;
  readonly runnable?: string | undefined;
  /** Number of the last event when it was sealed. */
  readonly seq: number;
}

export interface OpenedEntry extends ListEntry {
  /** True when an older version wrote it and sealed only the title. */
  readonly isOld: boolean;
}

/** Prefix that tells an entry from a title of older versions, which is base64. */
const entryMark = 'entry.';

/**
 * Seals and opens content of a session besides its events. Its place names the segment where a fork
 * may show content that it does not share.
 */
export class SessionSeals {
  readonly #scope: SealScope;

  constructor(scope: SealScope) {
    this.#scope = scope;
  }

  sealEntry(keys: SessionKeys, { title, user, runnable, seq }: ListEntry): string {
    const { own } = keys;
    const text = JSON.stringify({ title, user, runnable, seq });
    const place = placeOf(this.#scope, 'entry', own.id);
    return `${own.id}.${entryMark}${sealText(keyOf(own, 'The entry'), place, text)}`;
  }

  /**
   * Opens the entry of a session, which is kept as its title, and checks it against the columns
   * that are not sealed. Until it writes an entry, a fork has a copy of its origin's, sealed again
   * with its own key.
   * @throws SealBrokenError
   */
  openEntry(keys: SessionKeys, listing: SessionListing): OpenedEntry {
    const { own } = keys;
    const { id: session, title: stored = '', user, runnable } = listing;
    const what = `The entry of session "${session}" in the list`;
    const isOwn = stored.startsWith(`${own.id}.`);
    const sealed = (isOwn || keys.line.length === 1 ? stored : (keys.title ?? '')).slice(
      own.id.length + 1,
    );
    if (!sealed.startsWith(entryMark)) return this.#openOldEntry(keys, listing, isOwn, sealed);
    const text =
      isOwn || keys.line.length > 1
        ? unsealText(
            keyOf(own, what),
            placeOf(this.#scope, 'entry', own.id),
            sealed.slice(entryMark.length),
          )
        : undefined;
    const entry = opened(text, what) as unknown as ListEntry;
    // A fork's copy shows the origin at the time when the fork was prepared.
    if (isOwn && (entry.user !== user || entry.runnable !== runnable))
      throw new SealBrokenError({ what });
    return { ...entry, isOld: false };
  }

  /** Opens an entry of an older version, which sealed only the title. */
  #openOldEntry(
    keys: SessionKeys,
    { id: session, title: stored, user, runnable, seq }: SessionListing,
    isOwn: boolean,
    sealed: string,
  ): OpenedEntry {
    const { own } = keys;
    const what = `The entry of session "${session}" in the list`;
    const isForeign = stored !== undefined && !isOwn && keys.line.length === 1;
    if (isForeign || (keys.sealsEntry && (seq > 0 || stored !== undefined || user !== undefined)))
      throw new SealBrokenError({ what });
    const entry = { ...defined({ user, runnable }), seq: 0, isOld: true };
    if (sealed === '') return entry;
    return { ...entry, title: this.#openOldTitle(own, sealed, what) };
  }

  #openOldTitle(own: Segment, sealed: string, what: string): string {
    const text = unsealText(keyOf(own, what), placeOf(this.#scope, 'title', own.id), sealed);
    if (text === undefined) throw new SealBrokenError({ what });
    return text;
  }

  sealItem({ own }: SessionKeys, item: InboxItem): InboxItem {
    const what = 'An inbox item';
    return {
      ...item,
      data: {
        sealed: sealText(keyOf(own, what), this.#itemPlace(own, item), JSON.stringify(item.data)),
      },
    };
  }

  openItem(session: string, { own }: SessionKeys, entry: InboxEntry): InboxEntry {
    const what = `The inbox item "${entry.key}" of session "${session}"`;
    const text = unsealText(keyOf(own, what), this.#itemPlace(own, entry), sealedIn(entry.data));
    return { ...entry, data: opened(text, what) as JsonObject };
  }

  sealRequest({ own }: SessionKeys, request: RequestDraft): RequestDraft {
    const what = `The request "${request.requestId}"`;
    const sealed = sealText(
      keyOf(own, what),
      this.#requestPlace(own, request),
      JSON.stringify(request.request),
    );
    return { ...request, request: { agent: '', summary: '', options: [], sealed } };
  }

  openRequest({ own }: SessionKeys, row: RequestRow): RequestRow {
    const what = `The request "${row.requestId}" of session "${row.session}"`;
    const text = unsealText(keyOf(own, what), this.#requestPlace(own, row), sealedIn(row.request));
    return { ...row, request: opened(text, what) as RequestRow['request'] };
  }

  /**
   * Seals a snapshot with the key of the segment that holds the event at `seq`. All sessions that
   * share the event have it.
   */
  sealSnapshot(keys: SessionKeys, key: string, seq: number, value: JsonValue): string {
    const segment = keys.at(seq);
    const sealed = sealText(
      keyOf(segment, 'A snapshot'),
      placeOf(this.#scope, 'snapshot', segment.id, key, seq),
      JSON.stringify(value),
    );
    return `${segment.id}.${sealed}`;
  }

  /**
   * Opens a snapshot. `undefined` when the key was another session's and is gone: the snapshot is
   * made again.
   */
  openSnapshot(
    session: string,
    keys: SessionKeys,
    key: string,
    seq: number,
    stored: JsonValue,
  ): JsonValue | undefined {
    const text = typeof stored === 'string' ? stored : '';
    const segment = keys.withId(text.slice(0, Math.max(0, text.indexOf('.'))));
    if (segment?.sealKey === undefined) return undefined;
    const place = placeOf(this.#scope, 'snapshot', segment.id, key, seq);
    return opened(
      unsealText(segment.sealKey, place, text.slice(segment.id.length + 1)),
      `A snapshot of session "${session}"`,
    );
  }

  #itemPlace(own: Segment, { key, lane, by, at, type, settles }: InboxItem): string {
    return placeOf(this.#scope, 'inbox', own.id, key, lane, by, at, type, settles);
  }

  /** Returns the place of a request: all members that settling does not change. */
  #requestPlace(own: Segment, request: RequestDraft): string {
    const {
      requestId,
      session,
      invocationId,
      callId,
      kind,
      name,
      fingerprint,
      generation,
      user,
      mayDecide,
      operationId,
      createdAt,
      expiresAt,
    } = request;
    const decides = mayDecide === undefined ? null : JSON.stringify(mayDecide);
    const parts = [
      requestId,
      session,
      invocationId,
      callId,
      kind,
      name,
      fingerprint,
      generation,
      user,
      decides,
      operationId,
      createdAt,
      expiresAt,
    ];
    return placeOf(this.#scope, 'request', own.id, ...parts);
  }
}

export function sealedIn(data: JsonObject): string {
  return typeof data['sealed'] === 'string' ? data['sealed'] : '';
}

/**
 * Seals and opens content of no session: shared state and blobs. Each has a key of its own, derived
 * from the app's.
 */
export class AppSeals {
  readonly #scope: SealScope;
  readonly #key: SealKey;

  constructor(scope: SealScope, keys: SessionKeys) {
    this.#scope = scope;
    this.#key = keyOf(keys.own, 'What belongs to an app');
  }

  sealShared(write: SharedWrite): SharedWrite {
    if (write.value === undefined) return write;
    const place = this.#sharedPlace(write.scope, write.scopeId, write.key);
    return {
      ...write,
      value: sealText(derivedKey(this.#key, place), place, JSON.stringify(write.value)),
    };
  }

  openShared(scope: string, scopeId: string, key: string, stored: JsonValue): JsonValue {
    const place = this.#sharedPlace(scope, scopeId, key);
    const text =
      typeof stored === 'string'
        ? unsealText(derivedKey(this.#key, place), place, stored)
        : undefined;
    return opened(text, `The shared value "${key}" of "${scope}" "${scopeId}"`);
  }

  /**
   * Seals a message to another ledger. It belongs to no session: it is delivered also when the one
   * that sends is deleted meanwhile.
   */
  sealSend(from: string, send: Send): Send {
    const place = this.#sendPlace(from, send);
    const bodies = send.rows?.map(({ body }) => body);
    const text = JSON.stringify({ data: send.item.data, bodies });
    const sealed = sealText(derivedKey(this.#key, place), place, text);
    return sendWith(send, { sealed }, []);
  }

  /** @throws SealBrokenError */
  openSend<Sent extends Send>(from: string, send: Sent): Sent {
    const place = this.#sendPlace(from, send);
    const text = unsealText(derivedKey(this.#key, place), place, sealedIn(send.item.data));
    const { data, bodies = [] } = opened(
      text,
      `The message "${send.item.key}" of session "${from}"`,
    ) as unknown as { readonly data: JsonObject; readonly bodies?: readonly JsonObject[] };
    return sendWith(send, data, bodies);
  }

  /**
   * Returns the key that makes addresses of blobs: without it, nobody finds the address of a known
   * content.
   */
  addressKey(): Uint8Array {
    return derivedKey(this.#key, placeOf(this.#scope, 'blob address'));
  }

  /**
   * Returns the name under which a blob is kept. Only a reader who knows the address, which stands
   * in sealed events, can find it.
   */
  blobName(address: string): string {
    return authenticationCode(this.#key, placeOf(this.#scope, 'blob name', address));
  }

  /**
   * Seals a blob with a key derived from its address. Once the events with the address are
   * unreadable, so is the blob.
   */
  sealBlob(address: string, bytes: Uint8Array): Uint8Array {
    const place = placeOf(this.#scope, 'blob', address);
    return seal(derivedKey(this.#key, place), place, bytes);
  }

  openBlob(address: string, sealed: Uint8Array): Uint8Array {
    const place = placeOf(this.#scope, 'blob', address);
    const bytes = unseal(derivedKey(this.#key, place), place, sealed);
    if (bytes === undefined) throw new SealBrokenError({ what: `The blob at address ${address}` });
    return bytes;
  }

  #sendPlace(from: string, { to, birth, expiresAt, item, rows = [] }: Send): string {
    const { key, lane, by, at, type, settles } = item;
    const names = rows.map(({ kind, id, status }) => [kind, id, status]);
    const parts = [from, to, birth, expiresAt, key, lane, by, at, type, settles];
    return placeOf(this.#scope, 'send', ...parts, JSON.stringify(names));
  }

  #sharedPlace(scope: string, scopeId: string, key: string): string {
    return placeOf(this.#scope, 'shared', scope, scopeId, key);
  }
}

/** A message with other contents; a row without a new body has an empty one. */
function sendWith<Sent extends Send>(
  send: Sent,
  data: JsonObject,
  bodies: readonly JsonObject[],
): Sent {
  const rows = send.rows?.map((row, i) => ({ ...row, body: bodies[i] ?? {} }));
  return { ...send, item: { ...send.item, data }, ...defined({ rows }) };
}
