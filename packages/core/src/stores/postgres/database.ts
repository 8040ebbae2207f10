import { StoreTooNewError, StoreUnavailableError } from '../../ledger/errors.ts';
import { Pressure } from '../pressure.ts';
import { describeFailure, isConnectionLost, isLostAgainstOthers, isUndefined } from './failure.ts';
import { readFunctions } from './functions/read-functions.ts';
import { standaloneFunctions } from './functions/standalone-functions.ts';
import { turnExplanationFunctions } from './functions/turn-explanation-functions.ts';
import { turnFunctions } from './functions/turn-functions.ts';
import { turnOrderFunctions } from './functions/turn-order-functions.ts';
import { turnPlaceFunctions } from './functions/turn-place-functions.ts';
import { writeFunctions } from './functions/write-functions.ts';
import type { PostgresPool } from './pool.ts';
import { migrations } from './tables.ts';

/** Quotes a name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const mostTries = 3;

/** A table of about 700 kB that ends with its own transaction, on the disk of the database. */
const trialWrite = `create temporary table adjutant_room on commit drop as
  select repeat(md5(i::text), 40) as text from generate_series(1, 512) i`;

/**
 * The statements of one store. Each is a transaction of its own, of one round trip, on any
 * connection of the pool. Nothing is prepared, set or locked beyond it, so a pooler that lends a
 * connection for one transaction works as well as a direct one.
 */
export class Database {
  readonly description: string;
  readonly pressure = new Pressure(
    () => this.#open.size,
    () => this.#tryRoom(),
  );
  readonly #pool: PostgresPool;
  readonly #schema: string;
  #ready: Promise<void> | undefined;
  #closed = false;
  readonly #open = new Set<Promise<unknown>>();

  constructor(description: string, pool: PostgresPool, schemaName: string) {
    this.description = description;
    this.#pool = pool;
    this.#schema = quoteName(schemaName);
  }

  /**
   * Runs a statement. When its connection is lost it is sent once more: it must be safe to run
   * twice.
   * @param text a statement in which `{s}` stands for the schema
   * @throws StoreUnavailableError, StoreTooNewError
   */
  query(text: string, values: unknown[]): Promise<readonly Record<string, unknown>[]> {
    return this.#watch(this.#query(text, values, true));
  }

  /**
   * Runs a statement that returns one value, as `query` does; a JSON value is returned as its text.
   * @throws StoreUnavailableError, StoreTooNewError
   */
  async call(text: string, values: unknown[]): Promise<unknown> {
    return onlyValue(await this.query(text, values));
  }

  /**
   * Runs a statement as `call` does, but never twice.
   * @throws StoreUnavailableError, StoreTooNewError
   */
  async callOnce(text: string, values: unknown[]): Promise<unknown> {
    return onlyValue(await this.#watch(this.#query(text, values, false)));
  }

  /** Refuses new statements, and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#open]);
  }

  get closedError(): StoreUnavailableError {
    return new StoreUnavailableError({
      store: this.description,
      reason: 'it has been closed',
      permanent: true,
    });
  }

  async #query(
    text: string,
    values: unknown[],
    isRepeatable: boolean,
  ): Promise<readonly Record<string, unknown>[]> {
    if (this.#closed) throw this.closedError;
    await this.#beReady();
    const statement = text.replaceAll('{s}', () => this.#schema);
    let mayRepeat = isRepeatable;
    for (let tries = 1; ; tries++) {
      try {
        const result = await this.#pool.query(statement, values);
        return result.rows as readonly Record<string, unknown>[];
      } catch (error) {
        if (tries < mostTries && isLostAgainstOthers(error)) continue;
        if (mayRepeat && isConnectionLost(error)) {
          mayRepeat = false;
          continue;
        }
        const described = describeFailure(error, this.description);
        this.pressure.failed(described);
        throw described;
      }
    }
  }

  async #tryRoom(): Promise<void> {
    try {
      await this.#pool.query(trialWrite);
    } catch (error) {
      throw describeFailure(error, this.description);
    }
  }

  #watch<Result>(promise: Promise<Result>): Promise<Result> {
    this.#open.add(promise);
    const done = (): void => void this.#open.delete(promise);
    promise.then(done, done);
    return promise;
  }

  #beReady(): Promise<void> {
    this.#ready ??= this.#prepare().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #prepare(): Promise<void> {
    let version = await this.#findVersion();
    if (version < migrations.length) {
      await this.#migrate();
      version = await this.#findVersion();
    }
    if (version > migrations.length)
      throw new StoreTooNewError({
        store: this.description,
        found: version,
        supported: migrations.length,
      });
  }

  async #findVersion(): Promise<number> {
    try {
      const { rows } = await this.#pool.query(
        `select coalesce(max(version), 0)::int as version from ${this.#schema}.migrations`,
        [],
      );
      return Number((rows[0] as { version: unknown }).version);
    } catch (error) {
      if (isUndefined(error)) return 0;
      throw describeFailure(error, this.description);
    }
  }

  async #migrate(): Promise<void> {
    try {
      await this.#pool.query(migrationScript(this.#schema));
    } catch (error) {
      throw describeFailure(error, this.description);
    }
  }
}

function onlyValue([row]: readonly Record<string, unknown>[]): unknown {
  return row === undefined ? undefined : Object.values(row)[0];
}

/**
 * Returns the statements that bring the schema up to date. Several statements in one message are
 * one transaction, which takes a lock first. Of many processes that start at once, one does the
 * work and the others find it done.
 */
function migrationScript(schema: string): string {
  const steps = migrations.map((step, i) => {
    return (
      `if _version = ${i} then ${step} insert into {s}.migrations (version) values ` +
      `(${i + 1}); _version := ${i + 1}; end if;`
    );
  });
  const functions = [
    ...turnPlaceFunctions,
    ...turnFunctions,
    ...turnOrderFunctions,
    turnExplanationFunctions,
    ...standaloneFunctions,
    ...writeFunctions,
    ...readFunctions,
  ].join('\n');
  const script = `
select pg_advisory_xact_lock(hashtextextended('adjutant migrations', 0));
do $adjutant_begin$ begin
  -- Not "if not exists" alone: it asks for the right to create even when nothing is to be created.
  if to_regnamespace(${quoteText(schema)}) is null then create schema {s}; end if;
end $adjutant_begin$;
create table if not exists {s}.migrations (version int primary key,
  applied_at timestamptz not null default now());
do $adjutant_steps$
declare
  _version int := (select coalesce(max(version), 0) from {s}.migrations);
begin
  if _version >= ${migrations.length} then return; end if;
  ${steps.join('\n')}
  execute $adjutant_functions$${functions}$adjutant_functions$;
end
$adjutant_steps$;
`;
  return script.replaceAll('{s}', () => schema);
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
