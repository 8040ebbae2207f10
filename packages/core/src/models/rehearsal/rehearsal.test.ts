import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { converse } from '../../../test/models/rehearsal-toolbox.ts';
import { run } from '../../in-memory-app.ts';
import { agent } from '../../runnables/agent.ts';
import { readFile } from '../../tools/builtin/files/read-file.ts';
import { searchFiles } from '../../tools/builtin/files/search-files.ts';
import { rehearsal } from './model.ts';

const invoices = `id,customer,amount,status,date
INV-1,Acme,1200.50,paid,2026-01-05
INV-2,Bolt,300,unpaid,2026-02-05
INV-3,Acme,450.25,unpaid,2026-03-05
INV-4,Cord,99.75,overdue,2026-03-09
INV-5,Bolt,50,paid,2026-04-01
`;
const orders = `order_no,country,price,quantity,shipped_at
1,France,10,2,2026-01-01
2,Germany,30,1,
3,France,50,4,2026-01-09
4,Spain,120,3,
`;
const flags = `name,Total value,paid
a,10,yes
b,20,no
c,30,no
`;
const names = 'name,city\nAnn,Rome\nBob,Oslo\n';
const files = {
  'examples/workspace/invoices.csv': invoices,
  'data/orders.csv': orders,
  'flags.csv': flags,
  'people.csv': names,
  'notes/todo.md': '# Tasks\nTODO: call Ann\nwater the plants\n',
};
const path = 'examples/workspace/invoices.csv';

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
      `Summarize the README and tell me what time it is`,
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

  test(
    'calculates with a percentage in the same clause, with VAT and with ' + 'a division',
    async () => {
      expect(
        (
          await converse(
            `What is 20% of the unpaid invoices in ${path}, summed up in total?`,
            files,
          )
        ).answer,
      ).toContain('20% of 750.25 is 150.05.');
      expect((await converse(`Add up ${path} and add 20% VAT`, files)).answer).toContain(
        '2100.5 plus 20% is 2520.6.',
      );
      expect((await converse(`Add up ${path} and divide it by 5`, files)).answer).toContain(
        '2100.5 divided by 5 is 420.1.',
      );
    },
  );

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

describe('other requests', () => {
  test.each([
    ['What is 15% of 80?', '15 / 100 * 80', '12'],
    ['what is 12 * (3 + 4)', '12 * (3 + 4)', '84'],
    ['Calculate 1,200 divided by 7 plus 2', '1200 / 7 + 2', '173.428571'],
    ['What is the square root of 144?', 'sqrt(144)', '12'],
    ['2 to the power of 10', '2 ^ 10', '1024'],
    ['how much is 3 times 4.5', '3 * 4.5', '13.5'],
    ['7 x 6', '7 * 6', '42'],
  ])('%s', async (question, expression, result) => {
    const { answer, rounds } = await converse(question);
    expect(rounds).toEqual([[{ name: 'calculate', args: { expression } }]]);
    expect(answer).toContain(`${result}.`);
  });

  test('tells the time, here and elsewhere', async () => {
    expect((await converse('What time is it?')).answer).toContain(
      'It is Saturday, 21 November 2026 at 12:00:00',
    );
    expect((await converse('what is the time in Tokyo')).answer).toMatch(
      /at 21:00:00.* in Tokyo\./,
    );
    expect((await converse('What time is it in New York?')).answer).toMatch(
      /at 07:00:00.* in New York\./,
    );
    expect((await converse('What time is it in Atlantis?')).answer).toContain(
      'I do not know the time zone of Atlantis',
    );
  });

  test.each([
    ['List the files in notes', 'listFiles', { path: 'notes' }],
    ['list files', 'listFiles', {}],
    ['What files are in examples/workspace?', 'listFiles', { path: 'examples/workspace' }],
    ['Which csv files are there?', 'listFiles', { pattern: '**/*.csv' }],
    ['Read notes/todo.md', 'readFile', { path: 'notes/todo.md' }],
    ['Show me the contents of "notes/todo.md"', 'readFile', { path: 'notes/todo.md' }],
    ['open people.csv', 'readFile', { path: 'people.csv' }],
    ['Search for "call Ann" in notes', 'searchFiles', { query: 'call Ann', path: 'notes' }],
    ['search for TODO', 'searchFiles', { query: 'TODO' }],
    ['Which files mention plants?', 'searchFiles', { query: 'plants' }],
    ['Fetch https://example.com/a?b=1.', 'fetchUrl', { url: 'https://example.com/a?b=1' }],
  ])('%s', async (question, name, args) => {
    const { rounds } = await converse(question, files);
    expect(rounds).toEqual([[{ name, args }]]);
  });

  test('answers with what the files hold', async () => {
    expect((await converse('Read notes/todo.md', files)).answer).toContain('water the plants');
    expect((await converse('Search for "call Ann" in notes', files)).answer).toContain(
      'notes/todo.md:2: TODO: call Ann',
    );
    expect((await converse('List the files in notes', files)).answer).toContain(
      '- notes/todo.md (',
    );
    expect((await converse('Search for unicorns', files)).answer).toContain(
      '"unicorns" was not found here.',
    );
    expect((await converse('Read gone.md', files)).answer).toContain('I could not read gone.md: ');
    expect((await converse('what is 1 / 0 +', files)).answer).toContain('I could not calculate');
  });

  test('does several requests of one message, in one round where it can', async () => {
    const { answer, rounds } = await converse(
      'List the files in notes and tell me the time in Paris',
      files,
    );
    expect(rounds).toHaveLength(1);
    expect(rounds[0]?.map((call) => call.name)).toEqual(['listFiles', 'currentTime']);
    expect(answer).toMatch(/notes\/todo\.md[\s\S]*at 13:00:00.* in Paris/);
  });

  test('a later message may refer to the last number', async () => {
    const first = await converse(`Add up the unpaid invoices in ${path}`, files);
    const second = await converse('And what is 10% of that?', files, { before: first.prompt });
    expect(second.answer).toContain('10% of 750.25 is 75.025.');
    expect((await converse('What is 10% of that?', files)).answer).toContain(
      'There is no earlier number',
    );
  });
});

test('the same question asked again is looked up again', async () => {
  const ask = 'Add up the amounts in x.csv';
  const first = await converse(ask, { 'x.csv': 'amount\n1\n2\n' });
  const second = await converse(ask, { 'x.csv': 'amount\n1\n2\n40\n' }, { before: first.prompt });
  expect(first.answer).toContain('is 3.');
  expect(second.answer).toContain('is 43.');
});

describe('honesty', () => {
  test.each([
    'hello',
    'Write a poem about the sea',
    '',
    'Who are you?',
    'translate this into French',
  ])('"%s" is answered with what it can do', async (question) => {
    const { answer, rounds } = await converse(question, files);
    expect(rounds).toEqual([]);
    expect(answer).toContain('I am the rehearsal model: rules, not a language model');
    expect(answer).toContain('OPENAI_API_KEY');
  });

  test('names the tool that it would need', async () => {
    const { answer, rounds } = await converse('What is 15% of 80?', files, {
      offered: ['readFile'],
    });
    expect(rounds).toEqual([]);
    expect(answer).toContain('I would need the tool calculate');
  });

  test('what the runtime tells of other agents is not taken for the question', async () => {
    const told = '[planner] said: What is 2 + 2?';
    const first = await converse('What is 15% of 80?');
    const question = first.prompt.slice(0, 1);
    const { answer } = await converse(told, files, { before: question });
    expect(answer).toContain('15 / 100 * 80 = 12.');
  });

  test('uses tools within a name space, and results given as text', async () => {
    const { answer, rounds } = await converse(`Add up the unpaid invoices in ${path}`, files, {
      offered: ['office.queryCsv'],
      asText: true,
    });
    expect(rounds[0]?.[0]?.name).toBe('office.queryCsv');
    expect(answer).toContain('750.25');
  });
});

test('what supervision says to models about a result is not repeated to people', async () => {
  const tools = [
    searchFiles({ root: import.meta.dirname }),
    readFile({ root: import.meta.dirname }),
  ];
  const ask = async (question: string) =>
    (await run(agent({ name: 'clerk', model: rehearsal(), tools }), question)).output;
  expect(await ask('Read gone.md')).toMatch(
    /^I could not read gone\.md: There is no "gone\.md"\.\n\(rehearsal/,
  );
  expect(await ask('Search for "quite.unheard.of" in nothing-such')).not.toMatch(
    /Error type|Instead|closed|confidence/i,
  );
});
