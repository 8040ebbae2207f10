import { tool } from 'adjutant';
import { z } from 'zod';

/** Stands for the database of the shop. */
const invoices = [
  { id: 'A-1', customer: 'Ada', cents: 4_500 },
  { id: 'A-2', customer: 'Ben', cents: 125_000 },
];

function find(id: string): (typeof invoices)[number] {
  const found = invoices.find((invoice) => invoice.id === id);
  if (found === undefined) throw new Error(`There is no invoice ${id}.`);
  return found;
}

export const remind = tool({
  name: 'remind',
  description: 'Sends a customer a reminder of an unpaid invoice',
  schema: z.object({ invoice: z.string().describe('Number of the invoice, such as A-1') }),
  // A person says yes before a reminder of more than 100 dollars goes out.
  approval: {
    when: ({ args }) => invoices.some(({ id, cents }) => id === args.invoice && cents > 10_000),
    summary: ({ args }) => `Remind ${find(args.invoice).customer} of invoice ${args.invoice}`,
  },
  // The mail may or may not have gone out when the process ends in the middle of a call: the model
  // is told so, and the call is not simply made again.
  recovery: 'report',
  execute: ({ args }) => {
    const { customer, cents } = find(args.invoice);
    return `Reminded ${customer} of $${(cents / 100).toFixed(2)}.`;
  },
});
