import type { DatabaseSync } from 'node:sqlite';

/**
 * Rows of a ledger lie side by side, in the order of their numbers: the id of a row is the ledger's
 * number and the row's own. A table `without rowid` would do so too, but gives each row of more
 * than about 1,000 bytes a page of 4 KiB for what is left of it.
 */
const bitsOfRow = 32;

/** Largest number of a row in its ledger. */
export const mostRows: number = 2 ** bitsOfRow - 1;

/**
 * Returns the SQL of the id of a row. Numbers are bound as floats, which cannot hold all ids: they
 * are cast before, not after.
 */
export function rowId(ledger: string, row: string): string {
  return `(cast(${ledger} as integer) * ${2 ** bitsOfRow} + cast(${row} as integer))`;
}

/** Returns the parts of `rowId` as generated columns, which take no room. */
function numberColumns(row: string): string {
  return `ledger integer generated always as (id >> ${bitsOfRow}) virtual,
    ${row} integer generated always as (id & ${mostRows}) virtual`;
}

/**
 * Number of rows that are moved before their old places are freed. These are used again, so the
 * file hardly grows.
 */
const rowsPerMove = 4_096;

interface Move {
  readonly table: string;
  readonly columns: readonly string[];
  readonly create: string;
  /** Names of the columns that an old table was ordered by. */
  readonly order: readonly string[];
  /** The column of a row's own number, if ids are made of it. */
  readonly row?: string;
}

const moves: readonly Move[] = [
  {
    table: 'events',
    columns: ['at', 'type', 'actor', 'path', 'body'],
    order: ['ledger', 'seq'],
    row: 'seq',
    create: `(
    id integer primary key,
    at integer not null,
    type integer not null,
    actor any not null,
    path any not null,
    body text not null,
    ${numberColumns('seq')}
  ) strict`,
  },
  {
    table: 'inbox',
    columns: ['key', 'lane', 'actor', 'at', 'type', 'data', 'settles'],
    order: ['ledger', 'position'],
    row: 'position',
    create: `(
    id integer primary key,
    key text not null,
    lane text not null,
    actor text not null,
    at integer not null,
    type text not null,
    data text not null,
    settles text,
    ${numberColumns('position')}
  ) strict`,
  },
  {
    table: 'shared',
    columns: ['tenant', 'app', 'scope', 'scope_id', 'key', 'value', 'version'],
    order: ['tenant', 'app', 'scope', 'scope_id', 'key'],
    create: `(
    tenant text not null,
    app text not null,
    scope text not null,
    scope_id text not null,
    key text not null,
    value text,
    version integer not null,
    primary key (tenant, app, scope, scope_id, key)
  ) strict`,
  },
  {
    table: 'requests',
    columns: [
      'tenant',
      'app',
      'request',
      'ledger',
      'kind',
      'user',
      'operation',
      'created_at',
      'expires_at',
      'status',
      'settled_by',
      'settled_at',
      'body',
    ],
    order: ['tenant', 'app', 'request'],
    create: `(
    tenant text not null,
    app text not null,
    request text not null,
    ledger integer not null,
    kind text not null,
    user text,
    operation text,
    created_at integer not null,
    expires_at integer,
    status text not null,
    settled_by text,
    settled_at integer,
    body text not null,
    primary key (tenant, app, request)
  ) strict`,
  },
  {
    table: 'snapshots',
    columns: ['ledger', 'key', 'seq', 'value'],
    order: ['ledger', 'key', 'seq'],
    create: `(
    ledger integer not null,
    key text not null,
    seq integer not null,
    value text not null,
    primary key (ledger, key, seq)
  ) strict`,
  },
];

// SQLite keeps the text of a definition as written: these conditions are part of the file.
const wherePending = "where status = 'pending'";
const whereOperation = 'where operation is not null';
const requestIndexes = `
  create index requests_by_time on requests (tenant, app, created_at, request);
  create index requests_pending on requests (tenant, app, created_at, request) ${wherePending};
  create index requests_by_ledger on requests (ledger);
  create index requests_by_operation on requests (tenant, app, operation) ${whereOperation};
`;

/**
 * The step that gives tables with large rows ids. It runs within a transaction: a process that ends
 * meanwhile has changed nothing. The old places are overwritten, because a deletion of the session
 * would not find their content.
 */
export function giveRowsIds(database: DatabaseSync): void {
  database.exec('pragma secure_delete = on');
  try {
    for (const move of moves) moveRows(database, move);
    database.exec(requestIndexes);
  } finally {
    database.exec('pragma secure_delete = fast');
  }
}

function moveRows(database: DatabaseSync, { table, columns, create, order, row }: Move): void {
  const moved = `${table}_with_ids`;
  const key = order.join(', ');
  database.exec(`create table ${moved} ${create}`);
  const [target, source] =
    row === undefined
      ? [columns, columns]
      : [
          ['id', ...columns],
          [rowId('ledger', row), ...columns],
        ];
  const copy = database.prepare(`insert into ${moved} (${target.join(', ')})
    select ${source.join(', ')} from ${table} order by ${key} limit ${rowsPerMove}`);
  const free = database.prepare(
    `delete from ${table} where (${key}) in (select ${key} from ${table} order by ${key} ` +
      `limit ${rowsPerMove})`,
  );
  while (copy.run().changes > 0) free.run();
  database.exec(`drop table ${table}; alter table ${moved} rename to ${table}`);
}
