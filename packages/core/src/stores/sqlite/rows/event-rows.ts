import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { fieldsPerEvent } from '../encoding.ts';
import type { AppendRequest } from '../protocol.ts';
import { PathReferences } from './path-references.ts';
import { rowId } from './rows-by-id.ts';

/** The rows of events: written, and compared with events that are appended again. */
export class EventRows {
  readonly #paths = new PathReferences();
  readonly #insertEvent: StatementSync;
  readonly #eventBody: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insertEvent = database.prepare(
      `insert into events (id, at, type, actor, path, body) values (${rowId('?', '?')}, ?, ` +
        '?, ?, ?, ?)',
    );
    this.#eventBody = database.prepare(`select body from events where id = ${rowId('?', '?')}`);
  }

  insert(ledger: number, fields: AppendRequest['fields']): void {
    for (let i = 0; i < fields.length; i += fieldsPerEvent) {
      const seq = fields[i] as number;
      const path = fields[i + 4] as number | string;
      this.#insertEvent.run(
        ledger,
        seq,
        fields[i + 1] as number,
        fields[i + 2] as number,
        asInteger(fields[i + 3] as number | string),
        asInteger(typeof path === 'string' ? this.#paths.refer(ledger, seq, path) : path),
        fields[i + 5] as string,
      );
    }
  }

  /** Checks that the ledger holds these events in their place; false for none. */
  landedBefore(ledger: number, fields: AppendRequest['fields']): boolean {
    for (let i = 0; i < fields.length; i += fieldsPerEvent) {
      const stored = this.#eventBody.get(ledger, fields[i] as number)?.['body'];
      if (typeof stored !== 'string' || eventId(stored) !== eventId(fields[i + 5] as string))
        return false;
    }
    return fields.length > 0;
  }

  /** Forgets the rows that were written last, which their transaction has lost. */
  rolledBack(): void {
    this.#paths.clear();
  }
}

/**
 * Returns an integer for columns of any type: a number would be stored there as a float, in eight
 * bytes.
 */
function asInteger(value: number | string): bigint | string {
  return typeof value === 'number' ? BigInt(value) : value;
}

function eventId(body: string): unknown {
  try {
    return (JSON.parse(`[${body}]`) as unknown[])[0];
  } catch {
    return undefined;
  }
}
