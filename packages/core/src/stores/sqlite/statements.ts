import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Statements whose text depends on what is asked for, each prepared once. */
export class StatementCache {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** What must all be true of a row, with the values that belong to it. */
export class Conditions {
  readonly #texts: string[] = [];
  readonly values: SQLInputValue[] = [];

  get text(): string {
    return this.#texts.join(' and ');
  }

  add(text: string, ...values: SQLInputValue[]): this {
    this.#texts.push(text);
    this.values.push(...values);
    return this;
  }

  /** Asks for nothing when there is no value. */
  equal(column: string, value: SQLInputValue | undefined): this {
    return value === undefined ? this : this.add(`${column} = ?`, value);
  }
}
