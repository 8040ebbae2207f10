import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callTool } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CsvQueryResult } from './csv-query.ts';
import { queryCsv } from './query-csv.ts';

let root: string;

const invoices = `id,customer,status,amount,due
17,"Miller, Sons",unpaid,"1,234.50",2026-11-01
18,"Anna ""Ann"" Weber",Paid,80.10,2026-10-15
19,Weber,UNPAID,0.10,2026-12-24
20,Weber,unpaid,0.20,2026-09-30
21,Schmidt,unpaid,n/a,2026-08-01
22,Schmidt,unpaid,,2026-08-02
23,Schmidt,paid,$12.30,
`;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'csv-'));
  await writeFile(join(root, 'invoices.csv'), invoices);
});

afterAll(() => rm(root, { recursive: true, force: true }));

const call = (args: object, options: object = {}) =>
  callTool(queryCsv({ root, ...options }), { path: 'invoices.csv', ...args });
const query = async (args: object) => {
  const result = await call(args);
  expect(result).toMatchObject({ status: 'success' });
  return result.content as unknown as CsvQueryResult & { path: string };
};
const ids = async (...where: object[]) =>
  (await query({ where, select: ['id'] })).rows.map((row) => row['id']);
const written = async (content: string | Buffer, args: object) => {
  await writeFile(join(root, 'case.csv'), content);
  return query({ path: 'case.csv', ...args });
};

describe('rows', () => {
  test('without conditions: columns and first rows as they are written', async () => {
    const result = await query({ limit: 1 });
    expect(result).toEqual({
      path: 'invoices.csv',
      columns: ['id', 'customer', 'status', 'amount', 'due'],
      rowCount: 7,
      matched: 7,
      rows: [
        {
          id: '17',
          customer: 'Miller, Sons',
          status: 'unpaid',
          amount: '1,234.50',
          due: '2026-11-01',
        },
      ],
      truncated: true,
    });
    expect(await query({})).toMatchObject({ rows: { length: 7 }, truncated: false });
    expect((await query({ limit: 0 })).rows).toEqual([]);
  });

  test('select gives the named columns, in any case', async () => {
    expect((await query({ select: ['ID', 'Customer'], limit: 2 })).rows[1]).toEqual({
      id: '18',
      customer: 'Anna "Ann" Weber',
    });
  });

  test.each<[string, object[], string[]]>([
    [
      'text in any case',
      [{ column: 'status', op: '=', value: 'Unpaid' }],
      ['17', '19', '20', '21', '22'],
    ],
    ['not equal', [{ column: 'status', op: '!=', value: 'unpaid' }], ['18', '23']],
    ['contains', [{ column: 'customer', op: 'contains', value: 'WEBER' }], ['18', '19', '20']],
    ['empty', [{ column: 'due', op: 'empty' }], ['23']],
    [
      'not empty',
      [
        { column: 'amount', op: 'not_empty' },
        { column: 'status', op: '=', value: 'paid' },
      ],
      ['18', '23'],
    ],
    ['number equal, however written', [{ column: 'amount', op: '=', value: 1234.5 }], ['17']],
    ['number as text', [{ column: 'amount', op: '=', value: '12.3' }], ['23']],
    ['number above', [{ column: 'amount', op: '>', value: 12.3 }], ['17', '18']],
    ['number from', [{ column: 'amount', op: '>=', value: '12.30' }], ['17', '18', '23']],
    ['number below', [{ column: 'amount', op: '<', value: 0.2 }], ['19']],
    ['number up to', [{ column: 'amount', op: '<=', value: 0.2 }], ['19', '20']],
    ['dates', [{ column: 'due', op: '>=', value: '2026-11-01' }], ['17', '19']],
    [
      'between',
      [
        { column: 'id', op: '>', value: 18 },
        { column: 'id', op: '<', value: 21 },
      ],
      ['19', '20'],
    ],
    ['nothing', [{ column: 'status', op: '=', value: 'open' }], []],
    ['text of the same characters', [{ column: 'amount', op: '=', value: 'N/A' }], ['21']],
    ['an identifier is not a number', [{ column: 'id', op: '=', value: '017' }], []],
  ])('where: %s', async (_, where, expected) => {
    expect(await ids(...where)).toEqual(expected);
  });
});

describe('aggregates', () => {
  const unpaid = { column: 'status', op: '=', value: 'unpaid' };

  test('sums are exact, over all matching rows, and what is no number is named', async () => {
    const result = await query({
      where: [unpaid],
      aggregate: [{ fn: 'sum', column: 'amount' }],
      limit: 1,
    });
    expect(result).toMatchObject({
      matched: 5,
      aggregates: { 'sum(amount)': 1_234.8 },
      skipped: [{ column: 'amount', count: 2, empty: 1, examples: ['n/a'] }],
    });
    const few = await query({
      where: [
        { column: 'id', op: '>=', value: 19 },
        { column: 'id', op: '<=', value: 20 },
      ],
      aggregate: [{ fn: 'sum', column: 'amount' }],
    });
    expect(few.aggregates).toEqual({ 'sum(amount)': 0.3 });
    expect(few.skipped).toBeUndefined();
  });

  test('all functions', async () => {
    const aggregate = [
      ...['avg', 'min', 'max', 'count'].map((fn) => ({ fn, column: 'Amount' })),
      { fn: 'count' },
    ];
    expect((await query({ aggregate, limit: 0 })).aggregates).toEqual({
      'avg(amount)': 265.44,
      'min(amount)': 0.1,
      'max(amount)': 1_234.5,
      'count(amount)': 6,
      count: 7,
    });
  });

  test('of nothing there is no average', async () => {
    const aggregate = ['sum', 'avg', 'min', 'max', 'count'].map((fn) => ({ fn, column: 'amount' }));
    const result = await query({
      where: [{ column: 'status', op: '=', value: 'none' }],
      aggregate,
    });
    expect(result.aggregates).toEqual({
      'sum(amount)': null,
      'avg(amount)': null,
      'min(amount)': null,
      'max(amount)': null,
      'count(amount)': 0,
    });
  });

  test('earliest and latest date', async () => {
    const result = await query({
      aggregate: [
        { fn: 'min', column: 'due' },
        { fn: 'max', column: 'due' },
      ],
      limit: 0,
    });
    expect(result.aggregates).toEqual({ 'min(due)': '2026-08-01', 'max(due)': '2026-12-24' });
    expect(result.skipped).toBeUndefined();
  });

  test('groups, by text in any case, in the order of their first row', async () => {
    const result = await query({
      groupBy: 'status',
      aggregate: [{ fn: 'sum', column: 'amount' }],
      limit: 0,
    });
    expect(result.groups).toEqual([
      { key: 'unpaid', count: 5, 'sum(amount)': 1_234.8 },
      { key: 'Paid', count: 2, 'sum(amount)': 92.4 },
    ]);
    expect(result.aggregates).toEqual({ 'sum(amount)': 1_327.2 });
    expect((await query({ groupBy: 'customer', limit: 0 })).groups).toHaveLength(4);
  });

  test('a changed file gives the changed number', async () => {
    const aggregate = [{ fn: 'sum', column: 'n' }];
    expect((await written('n\n1\n2\n', { aggregate })).aggregates).toEqual({ 'sum(n)': 3 });
    expect((await written('n\n1\n5\n', { aggregate })).aggregates).toEqual({ 'sum(n)': 6 });
  });

  test('a hundred thousand dimes', async () => {
    const result = await written(`n\n${'0.10\n'.repeat(100_000)}`, {
      aggregate: [
        { fn: 'sum', column: 'n' },
        { fn: 'avg', column: 'n' },
      ],
    });
    expect(result).toMatchObject({
      rowCount: 100_000,
      aggregates: { 'sum(n)': 10_000, 'avg(n)': 0.1 },
    });
  });
});

describe('ways of writing', () => {
  const sum = { aggregate: [{ fn: 'sum', column: 'amount' }], limit: 0 };

  test.each<[string, string | Buffer]>([
    ['semicolons and decimal commas', 'id;amount\n1;1.234,50\n2;0,50\n'],
    ['tabs and an empty cell', 'id\tx\tamount\n1\t\t1234.5\n2\t\t0.5\n'],
    ['pipes', 'id|amount\n1|1234.5\n2|0.5\n'],
    ['byte order mark', Buffer.from('\ufeffamount,id\n1234.5,1\n0.5,2\n')],
    ['Windows line ends and blank lines', 'id,amount\r\n\r\n1,1234.5\r\n2,0.5\r\n'],
    ['no line end at the end', 'amount\n1234.5\n0.5'],
    ['spaces around cells', 'id , amount\n1 , "1,234.5"\n2 , 0.5 \n'],
    ['quoted header and line breaks in cells', '"id;x,y",amount\n"a\nb",1234.5\nc,0.5\n'],
    ['currencies', 'amount\n"$1,234.50"\n0.50 EUR\n'],
  ])('%s', async (_, content) => {
    const result = await written(content, sum);
    expect(result).toMatchObject({ rowCount: 2, aggregates: { 'sum(amount)': 1_235 } });
    expect(result.skipped).toBeUndefined();
  });

  test('what 1.234 means is decided by the other cells of the column', async () => {
    expect((await written('amount\n1.234\n"5,50"\n', sum)).aggregates).toEqual({
      'sum(amount)': 1_239.5,
    });
    expect((await written('amount\n1.234\n5.50\n', sum)).aggregates).toEqual({
      'sum(amount)': 6.734,
    });
    expect((await written('amount;x\n1.234;1\n1.5;1\n', sum)).aggregates).toEqual({
      'sum(amount)': 2.734,
    });
    const where = [{ column: 'amount', op: '>', value: 1_000 }];
    expect((await written('amount\n1.234\n"5,50"\n', { where })).rows).toEqual([
      { amount: '1.234' },
    ]);
  });

  test('where nothing decides, it says how it was read', async () => {
    expect(await written('amount\n"1,234"\n', sum)).toMatchObject({
      aggregates: { 'sum(amount)': 1_234 },
      notes: [expect.stringContaining('"1,234" was read as a thousands separator')],
    });
    expect(await written('amount;x\n1,234;1\n', sum)).toMatchObject({
      aggregates: { 'sum(amount)': 1.234 },
      notes: [expect.stringContaining('decimal mark')],
    });
  });

  test('rows of other lengths are counted, unnamed and equal columns get names', async () => {
    const result = await written('a,,a,__proto__\n1,2,3,4\n1\n1,2,3,4,5\n', {});
    expect(result).toMatchObject({
      columns: ['a', 'column_2', 'a_2', 'column_4'],
      rowCount: 3,
      irregularRows: 2,
    });
    expect(result.rows[0]).toEqual({ a: '1', column_2: '2', a_2: '3', column_4: '4' });
    expect(result.rows[1]).toMatchObject({ a: '1', column_2: '', a_2: '' });
  });

  test('a header without rows', async () => {
    expect(await written('a,b\n', {})).toMatchObject({
      columns: ['a', 'b'],
      rowCount: 0,
      rows: [],
    });
  });
});

describe('failures', () => {
  const failing = async (content: string | Buffer, args: object = {}) => {
    await writeFile(join(root, 'case.csv'), content);
    return call({ path: 'case.csv', ...args });
  };

  test.each<[string, object]>([
    ['select', { select: ['amout'] }],
    ['where', { where: [{ column: 'amout', op: 'empty' }] }],
    ['aggregate', { aggregate: [{ fn: 'sum', column: 'amout' }] }],
    ['groupBy', { groupBy: 'amout' }],
  ])('an unknown column in %s names those there are and the nearest', async (_, args) => {
    expect(await call(args)).toMatchObject({
      status: 'error_permanent',
      errorType: 'unknown_column',
      content: 'There is no column "amout". The columns are: id, customer, status, amount, due.',
      alternatives: ['Did you mean "amount"?'],
    });
  });

  test('a missing file, a folder and what leads out of the root', async () => {
    expect(await call({ path: 'invoice.csv' })).toMatchObject({
      errorType: 'file_not_found',
      alternatives: ['Did you mean "invoices.csv"?', expect.any(String)],
    });
    expect(await call({ path: '.' })).toMatchObject({ errorType: 'is_folder' });
    expect(await call({ path: '../x.csv' })).toMatchObject({
      status: 'error_blocked',
      errorType: 'path_refused',
    });
    await symlink('/etc/passwd', join(root, 'users.csv'));
    expect(await call({ path: 'users.csv' })).toMatchObject({
      status: 'error_blocked',
      errorType: 'path_refused',
    });
  });

  test('what is not CSV', async () => {
    expect(await failing('')).toMatchObject({ status: 'error_permanent', errorType: 'empty_file' });
    expect(await failing('\n\n')).toMatchObject({ errorType: 'empty_file' });
    expect(await failing(Buffer.from('a,b\0\n'))).toMatchObject({ errorType: 'binary_file' });
    expect(await failing('a,b\n1,"2\n3,4\n')).toMatchObject({
      errorType: 'parse_error',
      content: expect.stringContaining('Quote'),
    });
    expect(await failing(`a\n${'x'.repeat(1_100_000)}\n`)).toMatchObject({
      errorType: 'parse_error',
    });
  });

  test('a file that is too large is refused rather than added up in part', async () => {
    expect(await call({}, { maxBytes: 100 })).toMatchObject({
      status: 'error_permanent',
      errorType: 'too_large',
    });
  });

  test.each([
    { where: [{ column: 'id', op: '=' }] },
    { aggregate: [{ fn: 'sum' }] },
    { where: [{ column: 'id', op: 'like', value: 'x' }] },
    { aggregate: [{ fn: 'median', column: 'id' }] },
    { limit: -1 },
    { limit: 5_000 },
    { select: [] },
    { order: 'id' },
  ])('%j is refused', async (args) => {
    expect(await call(args)).toMatchObject({
      status: 'error_permanent',
      errorType: 'validation_error',
    });
  });

  test('an abort stops it', async () => {
    expect(
      await callTool(queryCsv({ root }), { path: 'invoices.csv' }, { signal: AbortSignal.abort() }),
    ).toMatchObject({ errorType: 'aborted' });
  });
});
