import { quoteName } from '../../stores/postgres/database.ts';
import type { PostgresPool } from '../../stores/postgres/pool.ts';

/** Time for which a row is kept. Those who listen read it as soon as they hear of it. */
const keptFor = "interval '1 minute'";
/** Lock under which one process at a time makes the table: "bus" in ASCII. */
const lock = 0x627573;

/** The events that are too large for a notification: it carries their ids. */
export class BusTable {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  #made: Promise<void> | undefined;

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#schema = quoteName(schema);
  }

  /**
   * Adds an event and notifies of its id, in one transaction.
   * @param prefix put before the id
   */
  async add(channel: string, prefix: string, text: string): Promise<void> {
    await this.#make();
    const statement = `
      with old as (
        delete from ${this.#schema}.bus_events where at < now() - ${keptFor}
      ), added as (
        insert into ${this.#schema}.bus_events (event) values ($3) returning id
      )
      select pg_notify($1, $2 || id) from added`;
    await this.#pool.query(statement, [channel, prefix, text]);
  }

  /** Reads the event of an id; nothing when it is gone. */
  async read(id: string): Promise<string | undefined> {
    const statement = `select event from ${this.#schema}.bus_events where id = $1::bigint`;
    const { rows } = await this.#pool.query(statement, [id]);
    return (rows[0] as { readonly event: string } | undefined)?.event;
  }

  /** Makes the table with the first large event. */
  #make(): Promise<void> {
    this.#made ??= this.#create().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  async #create(): Promise<void> {
    // One statement without parameters is one transaction.
    await this.#pool.query(`
      select pg_advisory_xact_lock(${lock});
      create schema if not exists ${this.#schema};
      create unlogged table if not exists ${this.#schema}.bus_events (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        event text not null
      );`);
  }
}
