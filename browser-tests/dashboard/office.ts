import {
  agent,
  agentTool,
  parallel,
  type Runtime,
  runtime,
  type Store,
  sequence,
  step,
  tool,
} from 'adjutant';
import { roundModel, type ScriptedResponse } from 'adjutant/testing';
import { cron, trigger, triggers } from 'adjutant/triggers';
import { z } from 'zod';

/** Invoices of the story that the pages show. */
const customers = ['Keller', 'Sainte-Claire', 'Halden'] as const;

const queryCsv = tool({
  name: 'queryCsv',
  description: 'Reads rows of a CSV file',
  schema: z.object({ file: z.string(), filter: z.string().optional() }),
  execute: (ctx) => {
    ctx.state.rows = 20;
    return { matched: 11, sums: { unpaid: 17_039.18, overdue: 8_310.65 }, file: ctx.args.file };
  },
});

const crmLookup = tool({
  name: 'crmLookup',
  description: 'Looks up a customer',
  schema: z.object({ customer: z.string() }),
  retry: { attempts: 1 },
  execute: (ctx) => {
    if (ctx.args.customer === 'Sainte-Claire')
      return { status: 'error_permanent' as const, content: 'The CRM gave no answer.' };
    return { customer: ctx.args.customer, daysLate: 43, reminders: 1 };
  },
});

const sendMail = tool({
  name: 'sendMail',
  description: 'Sends a mail to a customer',
  schema: z.object({ to: z.string(), subject: z.string(), text: z.string() }),
  approval: true,
  execute: (ctx) => `sent to ${ctx.args.to}`,
});

function researcher(customer: string) {
  return agent({
    name: `researcher-${customer.toLowerCase()}`,
    description: `Finds out why ${customer} has not paid`,
    instructions: 'Look the customer up. Say in one sentence what should be done.',
    tools: [crmLookup],
    model: roundModel([
      {
        thoughts: `First the record of ${customer}.`,
        toolCalls: [{ name: 'crmLookup', args: { customer } }],
      },
      { text: `${customer}: 43 days late, one reminder so far.` },
    ]),
  });
}

const writer = agent({
  name: 'writer',
  description: 'Writes reminders',
  instructions: 'Write short and friendly letters.',
  model: roundModel([{ text: 'Two drafts: a second reminder to Keller, and a short note.' }]),
});

const answers: readonly ScriptedResponse[] = [
  {
    thoughts: 'The open invoices first, then each customer that is late.',
    toolCalls: [{ name: 'queryCsv', args: { file: 'invoices.csv', filter: 'open' } }],
  },
  { toolCalls: [{ name: 'writer', args: { message: 'Draft the reminders.' } }] },
  {
    text: 'The open invoices come to 25,349.83 EUR. Three customers are overdue.',
    toolCalls: [
      {
        name: 'sendMail',
        args: { to: 'keller@example.com', subject: 'Invoice INV-2031', text: 'Please pay.' },
      },
    ],
  },
  { text: 'The reminder to Keller is sent. Halden paid on 21 November.' },
];

/** Instructions of the agent that keeps the books. */
const carefully =
  'You keep the books of a small firm. Nothing leaves the house without an approval.';

/** An office whose agent chases unpaid invoices: branches, a failed tool, state, an approval. */
export function office(
  store: Store,
  { instructions = carefully }: { readonly instructions?: string } = {},
): {
  readonly app: Runtime;
  readonly chase: ReturnType<typeof sequence>;
} {
  const controller = agent({
    name: 'controller',
    description: 'Keeps the books',
    instructions,
    tools: [queryCsv, sendMail, agentTool(writer)],
    model: roundModel(answers),
  });
  const chase = sequence({
    name: 'chase',
    runnables: [
      step({
        name: 'open',
        effects: false,
        execute: (ctx) => {
          ctx.state.case = { status: 'open', owner: 'mara' };
          ctx.state.step = 'look up';
        },
      }),
      parallel({ name: 'late', runnables: customers.map(researcher) }),
      step({
        name: 'sum',
        effects: false,
        execute: (ctx) => {
          ctx.state.step = 'draft';
          ctx.state.late = customers.slice(0, 2);
        },
      }),
      controller,
    ],
  });
  const weekly = trigger({
    name: 'weekly',
    on: cron('0 8 * * 1', { timeZone: 'Europe/Berlin' }),
    start: writer,
    input: 'Write the weekly letter.',
  });
  const runnables = [chase, controller, writer];
  const app = runtime({ app: 'office', runnables, store, triggers: triggers([weekly]) });
  return { app, chase };
}
