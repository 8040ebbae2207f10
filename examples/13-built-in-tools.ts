/** The built-in tools: exact arithmetic, sums over CSV files, and files below one folder that cannot be left. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, run } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { calculate, listFiles, queryCsv, readFile, searchFiles } from 'adjutant/tools';

const root = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
writeFileSync(join(root, 'invoices.csv'), 'number,status,amount\n1,unpaid,100.10\n2,paid,50.00\n3,unpaid,200.20\n');
writeFileSync(join(root, 'notes.md'), '# Notes\nInvoice 3 is disputed.\n');

const sumUnpaid = {
  path: 'invoices.csv',
  where: [{ column: 'status', op: '=', value: 'unpaid' }],
  aggregate: [{ fn: 'sum', column: 'amount' }],
  limit: 0,
};
const bookkeeper = agent({
  name: 'bookkeeper',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'listFiles' }, { name: 'searchFiles', args: { query: 'disputed' } }] },
    { toolCalls: [{ name: 'queryCsv', args: sumUnpaid }] },
    { toolCalls: [{ name: 'calculate', args: { expression: 'round(300.30 * 15%, 2)' } }] },
    { toolCalls: [{ name: 'readFile', args: { path: '../../etc/passwd' } }] },
    { text: 'Unpaid: 300.30; 15 % of it: 45.05. Invoice 3 is disputed.' },
  ]),
  tools: [listFiles({ root }), searchFiles({ root }), readFile({ root }), queryCsv({ root }), calculate()],
});

const result = await run(bookkeeper, 'Add up the unpaid invoices and tell me 15 % of the total.');
const contents = new Map<string, unknown>();
for (const event of result.session.events) {
  if (event.type !== 'tool_result') continue;
  console.log(`${event.name}: ${event.result.status} ${JSON.stringify(event.result.content).slice(0, 120)}`);
  contents.set(event.name, event.result.content);
}
console.log(result.output);

assert.deepEqual(contents.get('queryCsv'), {
  path: 'invoices.csv',
  columns: ['number', 'status', 'amount'],
  rowCount: 3,
  matched: 2,
  rows: [],
  aggregates: { 'sum(amount)': 300.3 },
  truncated: true,
});
assert.deepEqual(contents.get('calculate'), { expression: 'round(300.30 * 15%, 2)', result: 45.05 });
assert.equal(result.toolCalls.at(-1)?.success, false);
assert.match(String(contents.get('readFile')), /is refused/);
rmSync(root, { recursive: true });
