import { isAdjutantError } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Database } from './database.ts';
import { isRolledBack } from './failure.ts';

/** A change to one ledger; the function `write` of the schema takes `op` and the rest. */
export interface WriteRequest extends JsonObject {
  readonly op: 'append' | 'claim' | 'renew' | 'release' | 'post' | 'settle' | 'replace';
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
}

/** The reply of the function; `refused` is the reason when nothing was written. */
export interface WriteReply {
  readonly refused?: string;
  readonly [field: string]: JsonValue | undefined;
}

interface Waiting {
  readonly request: WriteRequest;
  /** The text of the request that is sent. */
  readonly text: string;
  /** True while another write must land first. */
  held: boolean;
  readonly resolve: (reply: WriteReply) => void;
  readonly reject: (error: unknown) => void;
}

const mostRequestsPerGroup = 512;
const mostCharactersPerGroup = 4_000_000;

/**
 * Sends changes to ledgers in groups. The requests that wait when a group was answered share the
 * next statement, and with it the round trip and the commit. One group is on its way at a time, so
 * the changes of a ledger are made in the order of their requests.
 */
export class WriteGroups {
  readonly #database: Database;
  readonly #fixedNow: () => number | null;
  readonly #ownName: string;
  #waiting: Waiting[] = [];
  #sending = false;
  #scheduled = false;
  readonly #idle: (() => void)[] = [];
  #isHeard = true;
  #closed = false;

  /**
   * @param fixedNow epoch milliseconds that replace the clock of the database; `null` to use that
   * clock
   * @param ownName name under which this store listens
   */
  constructor(database: Database, fixedNow: () => number | null, ownName: string) {
    this.#ownName = ownName;
    this.#database = database;
    this.#fixedNow = fixedNow;
  }

  /**
   * Sends a request.
   * @param after a promise that must end before this request and later ones of its session are sent
   * @throws StoreUnavailableError, StoreTooNewError
   */
  send(request: WriteRequest, after?: Promise<unknown>): Promise<WriteReply> {
    if (this.#closed) return Promise.reject(this.#database.closedError);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        request,
        text: JSON.stringify(request),
        held: after !== undefined,
        resolve,
        reject,
      };
      this.#waiting.push(waiting);
      const release = (): void => {
        waiting.held = false;
        this.#schedule();
      };
      if (after === undefined) this.#schedule();
      else after.then(release, release);
    });
  }

  /** The number of requests that wait for a group. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** True when another store was listening at the last group. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Refuses new requests, and waits until all have been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    if (!this.#sending && this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#sending || this.#scheduled) return;
    this.#scheduled = true;
    // A tick runs after all microtasks, so all callers that go on after the last replies are in one
    // group.
    process.nextTick(() => {
      this.#scheduled = false;
      void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    for (let group = this.#takeGroup(); group.length > 0; group = this.#takeGroup())
      await this.#sendGroup(group);
    this.#sending = false;
    if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #takeGroup(): readonly Waiting[] {
    const group: Waiting[] = [];
    const left: Waiting[] = [];
    const held = new Set<string>();
    let characters = 0;
    for (const waiting of this.#waiting) {
      const key = ledgerKey(waiting.request);
      const isFull =
        group.length >= mostRequestsPerGroup ||
        (group.length > 0 && characters + waiting.text.length > mostCharactersPerGroup);
      if (isFull || waiting.held || held.has(key)) {
        held.add(key);
        left.push(waiting);
      } else {
        characters += waiting.text.length;
        group.push(waiting);
      }
    }
    this.#waiting = left;
    return group;
  }

  async #sendGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const text = `[${group.map((waiting) => waiting.text).join(',')}]`;
      const statement = 'select {s}.write($1::jsonb, $2::bigint, $3)::text';
      const answer = await this.#database.call(statement, [text, this.#fixedNow(), this.#ownName]);
      const { replies, heard } = JSON.parse(String(answer)) as {
        readonly replies: readonly WriteReply[];
        readonly heard: boolean;
      };
      this.#isHeard = heard;
      group.forEach((waiting, i) => {
        waiting.resolve(replies[i] as WriteReply);
      });
    } catch (error) {
      // One request may have failed all: each gets a transaction of its own, so that only this one
      // fails.
      if (
        group.length > 1 &&
        isAdjutantError(error, 'store_unavailable') &&
        isRolledBack((error as Error).cause)
      ) {
        for (const waiting of group) await this.#sendGroup([waiting]);
      } else for (const waiting of group) waiting.reject(error);
    }
  }
}

function ledgerKey({ tenant, app, session }: WriteRequest): string {
  return JSON.stringify([tenant, app, session]);
}
