import { isAdjutantError } from '../../base/error.ts';
import {
  NotificationConnection,
  type NotificationSource,
} from '../../stores/postgres/notification-connection.ts';
import type { PostgresPool } from '../../stores/postgres/pool.ts';
import { BusClosedError, BusUnavailableError } from '../errors.ts';
import type { BusReceiver, BusTransport } from '../transport-bus.ts';
import { reasonOf, warnUnreachable } from '../warnings.ts';
import { BusTable } from './bus-table.ts';

export interface PostgresTransportSettings extends NotificationSource {
  readonly pool: PostgresPool;
  readonly schema: string;
  /** Ends a pool that is the bus's own. */
  readonly endPool: () => Promise<void>;
}

/** PostgreSQL takes less than 8000 bytes for a notification. */
const mostBytes = 7_000;
/** Small events that share a statement. */
const mostAtOnce = 100;
/** A payload: its kind, a number that makes it unlike others, and a text or the id of a row. */
const payloadForm = /^(?<kind>[er])\d+ (?<rest>.*)$/s;

interface Sending {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Events as notifications; those that are too large for one are rows of a table. */
export class PostgresTransport implements BusTransport {
  readonly #settings: PostgresTransportSettings;
  readonly #table: BusTable;
  #waiting: Sending[] = [];
  #sending: Promise<void> | undefined;
  #connection: NotificationConnection | undefined;
  #receiving: Promise<void> = Promise.resolve();
  #number = 0;
  /** Rejects the beginning of a subscription. */
  #abandon: (error: BusClosedError) => void = () => undefined;
  #isClosed = false;

  constructor(settings: PostgresTransportSettings) {
    this.#settings = settings;
    this.#table = new BusTable(settings.pool, settings.schema);
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      // Connections of a pool do not keep an order: one statement is on its way at a time.
      this.#sending ??= this.#sendAll().finally(() => {
        this.#sending = undefined;
      });
    });
  }

  listen(receiver: BusReceiver): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#abandon = reject;
      let isListening = false;
      let isWarned = false;
      const connection = new NotificationConnection(this.#settings, {
        onListening: async () => {
          // Notifications of the time without a connection are lost.
          if (isListening) this.#inOrder(async () => receiver.missed());
          [isListening, isWarned] = [true, false];
          resolve();
        },
        onPayload: (payload) => this.#receive(payload ?? '', receiver),
        onLost: (error = new Error('the connection was lost')) => {
          if (!isListening) {
            void connection.close();
            reject(unavailable(error));
          } else if (!isWarned) warnUnreachable(error);
          isWarned = true;
        },
      });
      this.#connection = connection;
      connection.listen(true);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#abandon(new BusClosedError());
    await this.#connection?.close();
    for (const { reject } of this.#waiting.splice(0)) reject(new BusClosedError());
    await this.#sending;
    await this.#receiving;
    await this.#settings.endPool();
  }

  async #sendAll(): Promise<void> {
    // Events that are published in the same turn share a statement.
    await Promise.resolve();
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      try {
        await this.#sendBatch(batch.map(({ text }) => text));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(unavailable(error));
      }
    }
  }

  /** Takes one large event, or the small ones up to the next large one. */
  #nextBatch(): readonly Sending[] {
    const large = this.#waiting.findIndex(({ text }) => isLarge(text));
    const small = large === -1 ? this.#waiting.length : large;
    return this.#waiting.splice(0, Math.min(mostAtOnce, Math.max(1, small)));
  }

  async #sendBatch(texts: readonly string[]): Promise<void> {
    const { pool, channel } = this.#settings;
    const [first = ''] = texts;
    if (isLarge(first)) return this.#table.add(channel, `r${++this.#number} `, first);
    // Equal payloads of one transaction would be one notification.
    const payloads = texts.map((text) => `e${++this.#number} ${text}`);
    const statement =
      'select pg_notify($1, payload) ' +
      'from unnest($2::text[]) with ordinality as given(payload, place) order by place';
    await pool.query(statement, [channel, payloads]);
  }

  #receive(payload: string, receiver: BusReceiver): void {
    const { kind, rest = '' } = payloadForm.exec(payload)?.groups ?? {};
    if (kind === 'e') this.#inOrder(async () => receiver.receive(rest));
    if (kind !== 'r' || !/^\d{1,18}$/.test(rest)) return;
    const reading = this.#table.read(rest).catch(() => undefined);
    this.#inOrder(async () => {
      const text = await reading;
      if (text === undefined) receiver.missed();
      else receiver.receive(text);
    });
  }

  /** Small events wait for a large one before them, which has to be read. */
  #inOrder(work: () => Promise<void>): void {
    this.#receiving = this.#receiving.then(async () => {
      if (!this.#isClosed) await work();
    });
  }
}

function isLarge(text: string): boolean {
  return Buffer.byteLength(text) > mostBytes;
}

function unavailable(error: unknown): BusUnavailableError | BusClosedError {
  if (isAdjutantError(error, 'bus_closed')) return error as BusClosedError;
  return new BusUnavailableError({ reason: reasonOf(error) }, { cause: error });
}
