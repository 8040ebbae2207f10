import { deepFreeze, type JsonValue } from '../../base/json.ts';
import type { Event, EventDraft } from '../event.ts';
import type { LedgerStore } from '../port.ts';
import type { BatchBlob } from '../writer/batch.ts';
import { asLiteral, exchangeReferences, findReferences, replaceReferences } from './blob.ts';
import { blobAddress } from './blob-address.ts';
import { recordable } from './large-values.ts';
import type { LoadedBlobs } from './load-blobs.ts';

interface BlobPorts {
  readonly store: LedgerStore;
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly addressKey?: Uint8Array | undefined;
}

/** The large values of one ledger in memory, and the references to them in its events. */
export class LedgerBlobs {
  readonly #ports: BlobPorts;
  readonly #values = new Map<string, JsonValue>();
  /**
   * References in the events. A copy of one into another event of this ledger is a reference too.
   */
  readonly #references = new WeakSet<object>();
  /** True when an event holds an escaped value, which readers must turn back. */
  #holdsEscaped = false;

  constructor(ports: BlobPorts, loaded: LoadedBlobs | undefined) {
    this.#ports = ports;
    if (loaded === undefined) return;
    for (const [address, value] of loaded.blobs) this.keep(address, value);
    for (const reference of loaded.references) this.#references.add(reference);
    this.#holdsEscaped = loaded.isEscaped;
  }

  readonly #addressOf = (bytes: Uint8Array): string =>
    blobAddress(this.#ports.scope, bytes, this.#ports.addressKey);

  /** Returns a recorded value as it was given: with large values in the place of references. */
  readonly resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || (this.#values.size === 0 && !this.#holdsEscaped)) return value;
    // A reference whose value is lost stays.
    return replaceReferences(value, (reference) => this.#values.get(reference.$blob) ?? reference);
  };

  /** Returns a draft as it is recorded. Adds its large values to `blobs`. */
  record<Draft extends EventDraft>(given: Draft, blobs: BatchBlob[]): Draft {
    const { draft, large, isEscaped } = recordable(given, this.#addressOf, (value) =>
      this.#references.has(value),
    );
    if (isEscaped) this.#holdsEscaped = true;
    for (const { address, bytes, value, reference } of large) {
      this.#references.add(reference);
      this.keep(address, value as JsonValue);
      blobs.push(this.#put(address, bytes));
    }
    return draft;
  }

  #put(address: string, bytes: Uint8Array): BatchBlob {
    // Not awaited: the store keeps the order of calls. A blob that did not arrive is put again by
    // the writer.
    void this.#ports.store.putBlob(bytes, address).catch(() => undefined);
    return { address, bytes };
  }

  /** Keeps large values in memory for events that are adopted later. */
  keepAll(values: Readonly<Record<string, JsonValue>>): void {
    for (const [address, value] of Object.entries(values)) this.keep(address, value);
  }

  /** Keeps a large value in memory. */
  keep(address: string, value: JsonValue): void {
    this.#values.set(address, asLiteral(deepFreeze(value)));
  }

  /** Finds references to known values in recorded events, and escaped values. */
  noteReferences(recorded: readonly Event[]): void {
    const isEscaped = findReferences(recorded, (reference) => {
      if (this.#values.has(reference.$blob)) this.#references.add(reference);
    });
    if (isEscaped) this.#holdsEscaped = true;
  }

  /**
   * Stores the large values of another ledger under addresses of this one. Returns its events with
   * references to these, and with no others.
   */
  adopt(
    events: readonly Event[],
    values: Readonly<Record<string, JsonValue>>,
  ): { readonly events: readonly Event[]; readonly blobs: readonly BatchBlob[] } {
    const addresses = new Map<string, string>();
    const blobs: BatchBlob[] = [];
    for (const [given, value] of Object.entries(values)) {
      const bytes = new TextEncoder().encode(JSON.stringify(value));
      // Another tenant or app has other addresses.
      const address = this.#addressOf(bytes);
      addresses.set(given, address);
      this.keep(address, value);
      blobs.push(this.#put(address, bytes));
    }
    const own = events.map((event) => {
      return exchangeReferences(event, (reference) => {
        const $blob = addresses.get(reference.$blob);
        return $blob === undefined ? undefined : { ...reference, $blob };
      }) as Event;
    });
    this.noteReferences(own);
    return { events: own, blobs };
  }

  /** The large values in memory, by address. */
  all(): Readonly<Record<string, JsonValue>> {
    return Object.fromEntries(this.#values);
  }
}

/**
 * Checks that an event can hold a reference. Most cannot, and a search in all of them would cost
 * more than folding them.
 */
export function mayHoldBlob(event: Event): boolean {
  switch (event.type) {
    case 'tool_result':
      if (event.editedArgs !== undefined || event.next !== undefined || event.notes !== undefined)
        return true;
      return Object.values(event.result).some((part) => typeof part === 'object');
    case 'model_start':
      return event.recipe.contents !== undefined;
    case 'model_end':
      return event.error !== undefined;
    case 'tool_attempt':
    case 'invocation_resume':
      return false;
    default:
      return true;
  }
}
