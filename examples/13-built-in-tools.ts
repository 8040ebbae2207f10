/**
 * The built-in tools: exact arithmetic, sums over CSV files, and files below one folder that cannot
 * be left.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { agent, run } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { calculate, listFiles, queryCsv, readFile, searchFiles } from 'adjutant/tools';

const root = join(import.meta.dirname, 'workspace');

const sumUnpaid = {
  path: 'invoices.csv',
  where: [{ column: 'status', op: '=', value: 'unpaid' }],
  aggregate: [{ fn: 'sum', column: 'amount' }],
  limit: 0,
};
/** Sum that the bookkeeper has read so far. */
const sumIn = (prompt: unknown) => /"sum\(amount\)":([\d.]+)/.exec(JSON.stringify(prompt))?.[1];

const bookkeeper = agent({
  name: 'bookkeeper',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel((prompt, call) => {
    const answers = [
      {
        toolCalls: [
          { name: 'listFiles', args: { pattern: '*.csv' } },
          { name: 'searchFiles', args: { query: 'overdue' } },
        ],
      },
      { toolCalls: [{ name: 'queryCsv', args: sumUnpaid }] },
      {
        toolCalls: [
          { name: 'calculate', args: { expression: `round(${sumIn(prompt)} * 15%, 2)` } },
        ],
      },
      { toolCalls: [{ name: 'readFile', args: { path: '../../README.md' } }] },
    ];
    return answers[call] ?? { text: `The unpaid invoices add up to ${sumIn(prompt)}.` };
  }),
  tools: [
    listFiles({ root }),
    searchFiles({ root }),
    readFile({ root }),
    queryCsv({ root }),
    calculate(),
  ],
});

const result = await run(bookkeeper, 'Add up the unpaid invoices and tell me 15 % of the total.');
const contents = new Map<string, unknown>();
for (const event of result.session.events) {
  if (event.type !== 'tool_result') continue;
  console.log(
    `${event.name}: ${event.result.status} ${JSON.stringify(event.result.content).slice(0, 120)}`,
  );
  contents.set(event.name, event.result.content);
}
console.log(result.output);

const { aggregates } = contents.get('queryCsv') as { aggregates: { 'sum(amount)': number } };
const sum = aggregates['sum(amount)'];
assert.equal(result.output, `The unpaid invoices add up to ${sum}.`);
assert.equal((contents.get('calculate') as { result: number }).result, Math.round(sum * 15) / 100);
assert.equal(result.toolCalls.at(-1)?.success, false);
assert.match(String(contents.get('readFile')), /is refused/);
