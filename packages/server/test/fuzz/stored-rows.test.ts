import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { agent, runtime, type Store, tool } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { seed } from '../../../core/test/fuzz/seed.ts';
import { watchProcess } from '../../../core/test/fuzz/unhandled.ts';
import { newSchema, reasonToSkip, serverUrl } from '../../../core/test/stores/postgres/server.ts';
import { type AdjutantServer, server } from '../../src/index.ts';

type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;

/** A store, and another way to its rows. */
interface Place {
  readonly store: Store;
  readonly query: (text: string, values?: readonly Value[]) => Promise<readonly Row[]>;
  readonly parameter: (index: number) => string;
}

function sqlitePlace(): Place {
  const path = join(mkdtempSync(join(tmpdir(), 'adjutant-fuzz-')), 'app.db');
  let database: DatabaseSync | undefined;
  onTestFinished(() => database?.close());
  const query = async (text: string, values: readonly Value[] = []): Promise<readonly Row[]> => {
    database ??= new DatabaseSync(path, { timeout: 5_000 });
    return database.prepare(text).all(...values) as Row[];
  };
  return { store: sqlite(path), query, parameter: () => '?' };
}

function postgresPlace(): Place {
  const schema = newSchema();
  onTestFinished(() => schema.drop());
  const query = async (text: string, values: readonly Value[] = []): Promise<readonly Row[]> => {
    const inSchema = text.replace(/(from|update) (\w+)/, `$1 "${schema.name}".$2`);
    return (await schema.query(inSchema, [...values])) as Row[];
  };
  return {
    store: postgres(serverUrl, { schema: schema.name }),
    query,
    parameter: (index) => `$${index}`,
  };
}

/** Tables whose rows belong to one ledger, and the columns by which a row is found beside it. */
const tables: Readonly<Record<string, readonly string[]>> = {
  events: ['seq'],
  ledgers: [],
  requests: ['request_id'],
  inbox: ['position'],
  snapshots: ['key', 'seq'],
};

interface Damage {
  readonly table: string;
  readonly row: number;
  readonly column: number;
  readonly how: number;
  readonly value: unknown;
}

const part: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1, 255, 1e15, '', 'x', '__proto__', [], {}, [[]], {
    $blob: 'x',
  }),
  fc.jsonValue({ maxDepth: 2 }),
);
const damage: fc.Arbitrary<Damage> = fc.record({
  table: fc.constantFrom('events', 'events', 'events', 'ledgers', 'requests', 'inbox', 'snapshots'),
  row: fc.nat(),
  column: fc.nat(),
  how: fc.nat(),
  value: part,
});

/** Another value for one that was stored, of a kind that the column takes. */
function damaged(stored: Value, { how, value }: Damage): Value {
  if (typeof stored !== 'string' || /^\d+$/.test(stored))
    return [-1, 0, 1, 77, 1_000_000][how % 5] as number;
  const texts = [
    '',
    'x',
    '{',
    '[]',
    '{}',
    'null',
    '5',
    stored.slice(0, stored.length / 2),
    `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  ];
  return how % 3 === 0
    ? (texts[how % texts.length] as string)
    : (replaced(stored, how, value) ?? (texts[how % texts.length] as string));
}

/** The JSON text with one value in it replaced. */
function replaced(text: string, place: number, value: unknown): string | undefined {
  let root: unknown;
  try {
    // A body is a list without its brackets.
    root = JSON.parse(/^[[{]/.test(text) ? text : `[${text}]`);
  } catch {
    return undefined;
  }
  const slots = slotsOf(root);
  const slot = slots[place % Math.max(1, slots.length)];
  if (slot === undefined) return undefined;
  slot.of[slot.key] = value;
  const changed = JSON.stringify(root);
  return /^[[{]/.test(text) ? changed : changed.slice(1, -1);
}

function slotsOf(value: unknown): { readonly of: Record<string, unknown>; readonly key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((key) => [{ of, key }, ...slotsOf(of[key])]);
}

async function breakRow(
  { query, parameter }: Place,
  ledger: Value,
  wanted: Damage,
): Promise<string> {
  const idColumn = wanted.table === 'ledgers' ? 'id' : 'ledger';
  const rows = await query(`select * from ${wanted.table} where ${idColumn} = ${parameter(1)}`, [
    ledger,
  ]);
  const row = rows[wanted.row % Math.max(1, rows.length)];
  if (row === undefined) return 'nothing';
  const keys = [idColumn, ...(tables[wanted.table] ?? [])];
  // Under another name it would be another session's.
  const columns = Object.keys(row).filter(
    (name) => !keys.includes(name) && !['tenant', 'app', 'session', 'id'].includes(name),
  );
  const column = columns[wanted.column % columns.length] as string;
  const value = damaged(row[column] ?? null, wanted);
  const where = keys.map((key, index) => `${key} = ${parameter(index + 2)}`).join(' and ');
  await query(`update ${wanted.table} set ${column} = ${parameter(1)} where ${where}`, [
    value,
    ...keys.map((key) => row[key] as Value),
  ]).catch(() => undefined);
  return `${wanted.table}.${column} = ${String(value).slice(0, 200)}`;
}

const patienceMs = 60_000;

async function ask(
  api: AdjutantServer,
  what: string,
  body?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = '', path = ''] = what.split(' ');
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const signal = AbortSignal.timeout(patienceMs);
  const hung = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error(`${what} does not answer.`))),
  );
  const response = await Promise.race([api.fetch(request), hung]);
  const reader = response.body?.getReader();
  let text = '';
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  for (let parts = 0; reader !== undefined && !(isStream && parts === 3); parts++) {
    // A stream has at least its beginning; then there may be nothing to tell.
    const quiet =
      isStream && parts > 0
        ? [ask(api, 'GET /v1/ready').then(() => ({ done: true, value: undefined }))]
        : [];
    const { done, value } = await Promise.race([reader.read(), hung, ...quiet]);
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader?.cancel();
  return { status: response.status, text };
}

const reads = [
  '',
  '/events',
  '/events?values=full',
  '/state',
  '/transcript',
  '/runs',
  '/stream?after=0',
  '/stream?after=0&profile=messages',
];

async function served(place: Place) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    execute: () => 'seen',
  });
  const rounds = [
    [{ text: 'I look.', toolCalls: [{ name: 'look', args: {} }] }],
    [{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }],
  ].flat();
  let round = 0;
  const payer = agent({
    name: 'payer',
    model: scriptedModel(() => rounds[round++ % 2] ?? { text: 'Done.' }),
    tools: [pay, look],
  });
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Here.' })) });
  const errors: unknown[] = [];
  const app = runtime({
    app: 'shop',
    store: place.store,
    runnables: [payer, clerk],
    recover: 'manual',
  });
  const api = server(app, { onError: (error) => void errors.push(error) });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return { app, api, payer, clerk, errors };
}

async function fuzz(place: Place, numRuns: number): Promise<void> {
  const checkProcess = watchProcess();
  const { app, api, payer, clerk, errors } = await served(place);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(damage, async (wanted) => {
      const id = `s${++count}`;
      errors.length = 0;
      await app.sessions.create({ id });
      const { status } = await app.run(payer, { session: id, input: 'Go' });
      expect(status).toBe('yielded');
      await ask(api, `POST /v1/sessions/${id}/messages`, { text: 'And hurry.' });
      const [ledger] = await place.query(
        `select id from ledgers where session = ${place.parameter(1)}`,
        [id],
      );
      const told = await breakRow(place, ledger?.['id'] ?? null, wanted);
      const asked: [string, object?][] = [
        ...reads.map((read): [string] => [`GET /v1/sessions/${id}${read}`]),
        ...[
          ['GET /v1/sessions'] as [string],
          ['GET /v1/approvals'] as [string],
          [`GET /v1/usage?session=${id}`] as [string],
        ],
        [`POST /v1/sessions/${id}/fork`, {}],
        [`POST /v1/sessions/${id}/continue`, {}],
        [`POST /v1/sessions/${id}/messages`, { text: 'More' }],
        [`POST /v1/sessions/${id}/runs`, { agent: 'payer', input: 'Again' }],
        [`POST /v1/sessions/${id}/cancel`, {}],
      ];
      for (const [what, body] of asked) {
        const answer = await ask(api, what, body);
        expect(answer.text).not.toMatch(/\n\s+at .*\(|node_modules/);
        if (answer.status >= 500 && !named.has((JSON.parse(answer.text) as { code: string }).code))
          throw new Error(
            `${told}: ${what} ${answer.status} ` +
              `${answer.text}\n${errors.map((error) => (error as Error).stack).join('\n')}`,
          );
      }
      await app.recovery.resumeStopped();
      const good = await app.run(clerk, { input: 'Hi' });
      expect(good.output).toBe('Here.');
      expect((await ask(api, `GET /v1/sessions/${good.session.id}/transcript`)).status).toBe(200);
      expect((await ask(api, `DELETE /v1/sessions/${id}`)).status).toBeLessThan(500);
    }),
    { seed, numRuns, endOnFailure: true },
  );
  await checkProcess();
}

/**
 * Codes that say that what is stored is damaged. Nothing that the caller could do makes them go
 * away: they are answered with 500.
 */
const named: ReadonlySet<string> = new Set([
  'ledger_unreadable',
  'blob_missing',
  'store_unavailable',
]);

test('a damaged row of SQLite is a named problem of its session; others are served', () =>
  fuzz(sqlitePlace(), 15));

test.skipIf(reasonToSkip !== undefined)(
  'a damaged row of PostgreSQL is a named problem of its session; others are served',
  () => fuzz(postgresPlace(), 6),
);
