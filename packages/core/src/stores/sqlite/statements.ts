import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Statements whose text depends on the request, each prepared once. */
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

/** The conditions that a row must all meet, with their values. */
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

  /** Adds that a column equals a value, if there is one. */
  equal(column: string, value: SQLInputValue | undefined): this {
    return value === undefined ? this : this.add(`${column} = ?`, value);
  }
}
