import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { converse } from '../../../test/models/rehearsal-toolbox.ts';
import { files, path } from './office-files.fixture.ts';

describe('tables', () => {
  test('adds up the unpaid invoices and takes 15% of the total in several rounds', async () => {
    const { answer, rounds } = await converse(
      `Add up the unpaid invoices in ${path} and tell me 15% of the total`,
      files,
    );
    expect(answer).toContain('is 750.25.');
    expect(answer).toContain('15% of 750.25 is 112.5375.');
    expect(answer).toContain('rules, not a language model');
    expect(rounds.length).toBeGreaterThanOrEqual(2);
    expect(rounds.at(-1)).toEqual([{ name: 'calculate', args: { expression: '0.15 * 750.25' } }]);
  });

  test('every number follows the file', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ cents: fc.integer({ min: 1, max: 1_000_000 }), paid: fc.boolean() }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 99 }),
        async (rows, percent) => {
          const lines = rows.map(
            ({ cents, paid }, i) =>
              `INV-${i},${(cents / 100).toFixed(2)},${paid ? 'paid' : 'unpaid'}`,
          );
          const table = `id,amount,status\n${lines.join('\n')}\n`;
          const unpaid = rows.filter((row) => !row.paid);
          const { answer } = await converse(
            `Sum the unpaid invoices in x/y.csv, then give me ${percent}% of the sum`,
            { 'x/y.csv': table },
          );
          if (unpaid.length === 0) {
            expect(answer).toMatch(/No row of x\/y\.csv matches|Nothing in x\/y\.csv|0 rows/);
            return;
          }
          const total = Number((unpaid.reduce((sum, row) => sum + row.cents, 0) / 100).toFixed(6));
          expect(answer).toContain(`is ${total}.`);
          expect(answer).toContain(
            `${percent}% of ${total} is ${Number(((total * percent) / 100).toFixed(6))}.`,
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([
    [`What is the total of the unpaid invoices in ${path}?`, '750.25'],
    [`How much is outstanding in ${path}?`, '750.25'],
    [`sum of amounts in ${path} where status is overdue`, '99.75'],
    [`Please add up all paid invoices of "${path}".`, '1250.5'],
    [`Sum the amounts in ${path} where customer is acme`, '1650.75'],
    [`What is the sum of the invoices from Bolt in ${path}`, '350'],
    [`average amount of unpaid invoices in ${path}`, '375.125'],
    [`What's the largest invoice in ${path}?`, '1200.5'],
    [`What is the smallest unpaid invoice in ${path}?`, '300'],
    [`How many invoices in ${path} are unpaid?`, 'has 2 rows'],
    [`count the rows in ${path} where amount is over 400`, 'has 2 rows'],
    [`How many invoices over 100 are in ${path}?`, 'has 3 rows'],
    [`How many invoices between 60 and 400 are in ${path}`, 'has 2 rows'],
    [`total number of overdue invoices in ${path}`, 'has 1 row'],
    ['What is the average price in data/orders.csv where country is France?', '30'],
    ['Add up the quantity in data/orders.csv', '10'],
    ['sum of the prices in data/orders.csv where country is not France', '150'],
    ['sum of price in data/orders.csv where country is France and quantity is at least 3', '50'],
    ['How many unshipped orders are in data/orders.csv?', 'has 2 rows'],
    ['How many shipped orders are in data/orders.csv?', 'has 2 rows'],
    ['total price of orders from Spain in data/orders.csv', '120'],
    ['Add up the unpaid items in flags.csv', '50'],
    ['Add up the paid items in flags.csv', '10'],
    ['How many people are in people.csv?', 'has 2 rows'],
  ])('%s', async (question, expected) => {
    const { answer } = await converse(question, files);
    expect(answer).toMatch(new RegExp(`(^|[ (])${expected.replaceAll('.', '\\.')}([ .]|$)`, 'm'));
  });

  test.each([
    [`Please sum up all unpaid and overdue invoices in ${path}`, '750.25 + 99.75 = 850.'],
    [`How many unpaid or overdue invoices are in ${path}?`, '2 + 1 = 3.'],
    [
      `Add up the unpaid and overdue invoices in ${path} and tell me half of the total`,
      'half of 850 is 425.',
    ],
    [`Add up the invoices in ${path} that are not paid`, 'where status != paid is 850.'],
    [`Count the unpaid invoices in ${path} and sum them`, 'where status = unpaid is 750.25.'],
    [`Sum the invoices in ${path} after 2026-03-01`, 'where date > 2026-03-01 is 600.'],
    [`How much did bolt pay in ${path}?`, 'where customer = Bolt is 350.'],
    [`average amount of Acme invoices in ${path}`, 'where customer = Acme is 825.375.'],
    [`Which invoice in ${path} is the largest?`, 'id: INV-1'],
    [`Sum the amounts in ${path} by customer`, '- Bolt: 350'],
    [`How many invoices are there per status in ${path}?`, '- unpaid: 2'],
    [`total amount per planet in ${path}`, 'no column "planet" to group by'],
    [
      `Sum the amounts in ${path} where customer begins with A`,
      'I do not understand the condition "customer begins with A"',
    ],
    [
      `Sum the amounts in ${path} where customer is Acme or Bolt`,
      'I do not understand the condition',
    ],
    [
      `What is the difference between paid and unpaid invoices in ${path}?`,
      'I am the rehearsal model',
    ],
    [`Sum the paid invoices in ${path} and subtract 10%`, '1250.5 minus 10% is 1125.45.'],
    [
      `Sum the paid invoices in ${path} and subtract 10% of the total`,
      '1250.5 minus 10% is 1125.45.',
    ],
    [`Sum the paid invoices in ${path} minus 10%`, '1250.5 minus 10% is 1125.45.'],
    [
      `Sum the paid invoices in ${path}, then deduct 50 from the total`,
      '1250.5 minus 50 is 1200.5.',
    ],
    [`Sum the paid invoices in ${path} and add 100`, '1250.5 plus 100 is 1350.5.'],
    [
      `Sum the paid invoices in ${path} and subtract the overdue ones`,
      'I did not understand "subtract the overdue ones".',
    ],
    [
      `Sum the paid invoices in ${path} and round it to whole euros`,
      'I did not understand "round it to whole euros".',
    ],
    [
      `Sum the paid invoices in ${path} and juggle with them`,
      'I did not understand "juggle with them".',
    ],
    [`Sum the 3 largest invoices in ${path}`, 'I did not understand "the 3 largest".'],
    [`Sum the paid invoices of 2026 in ${path}`, 'I did not understand "of 2026 in".'],
    [
      'Summarize the README and tell me what time it is',
      'I did not understand "Summarize the README".',
    ],
  ])('no part of the question is passed over: %s', async (question, expected) => {
    expect((await converse(question, files)).answer).toContain(expected);
  });

  test('shows rows when no statistic is asked for', async () => {
    const { answer } = await converse(`Show me the overdue invoices in ${path}`, files);
    expect(answer).toContain('has 1 row where status = overdue');
    expect(answer).toContain('id: INV-4');
  });

  test('takes several statistics and several percentages of one file', async () => {
    const { answer } = await converse(
      `Give me the sum of the unpaid invoices in ${path}, then 10% of the total and then ` +
        '20% of the total',
      files,
    );
    expect(answer).toContain('10% of 750.25 is 75.025.');
    const both = await converse(`What are the sum and the average amount in ${path}?`, files);
    expect(both.answer).toContain('The sum of amount over the 5 rows');
    expect(both.answer).toContain('is 2100.5.');
    expect(both.answer).toContain('is 420.1.');
  });

  const title = 'calculates with a percentage in the same clause, with VAT and with a division';
  test(title, async () => {
    expect(
      (await converse(`What is 20% of the unpaid invoices in ${path}, summed up in total?`, files))
        .answer,
    ).toContain('20% of 750.25 is 150.05.');
    expect((await converse(`Add up ${path} and add 20% VAT`, files)).answer).toContain(
      '2100.5 plus 20% is 2520.6.',
    );
    expect((await converse(`Add up ${path} and divide it by 5`, files)).answer).toContain(
      '2100.5 divided by 5 is 420.1.',
    );
  });

  test('finds the file by its name when none is given', async () => {
    const { answer } = await converse('Add up the unpaid invoices', files);
    expect(answer).toContain('examples/workspace/invoices.csv');
    expect(answer).toContain('750.25');
    expect((await converse('Add up the unpaid amounts', files)).answer).toContain(
      'Which file do you mean',
    );
  });

  test('looks at all values when the table is longer than the sample', async () => {
    const rows = Array.from(
      { length: 200 },
      (_, i) => `${i},${i === 150 ? 7 : 1},${i === 150 ? 'open' : 'paid'}`,
    ).join('\n');
    const { answer, rounds } = await converse('Add up the unpaid rows in long.csv', {
      'long.csv': `id,amount,status\n${rows}\n`,
    });
    expect(answer).toContain('where status = open is 7.');
    expect(rounds[1]).toEqual([
      {
        name: 'queryCsv',
        args: { path: 'long.csv', groupBy: 'status', aggregate: [{ fn: 'count' }] },
      },
    ]);
  });

  test('says which cells were not counted and how numbers were read', async () => {
    const table = 'item,cost\na,"1.234,50 €"\nb,n/a\nc,"10,25 €"\nd,5\n';
    const { answer } = await converse(
      'Add up the costs in costs.csv and tell me 10% of the total',
      { 'costs.csv': table },
    );
    expect(answer).toContain(
      'is 1249.75. Not counted: 1 cell of cost without a number (such as "n/a").',
    );
    expect(answer).toContain('10% of 1249.75 is 124.975.');
  });

  test('says what it cannot find, with what there is', async () => {
    expect((await converse('Add up the unpaid invoices in gone.csv', files)).answer).toContain(
      'I could not query gone.csv: ',
    );
    expect((await converse('Add up the amounts in people.csv', files)).answer).toContain(
      'no column that I can take for the amounts; its columns are name, city',
    );
    expect((await converse(`Add up the rejected invoices in ${path}`, files)).answer).toContain(
      'the values of status are paid, unpaid, overdue',
    );
    expect(
      (await converse(`Sum the amounts in ${path} where planet is Mars`, files)).answer,
    ).toContain('has no column "planet"');
    expect((await converse(`Sum the invoices from Mars in ${path}`, files)).answer).toContain(
      'has the value "Mars"',
    );
    const missing = await converse(
      'Add up the unpaid invoices in gone.csv and tell me 15% of the total',
      files,
    );
    expect(missing.answer).toContain('So there is no number for 15% of it.');
    expect(missing.rounds).toHaveLength(1);
  });
});
