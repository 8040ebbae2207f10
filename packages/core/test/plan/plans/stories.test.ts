import { agent, runtime, step, ToolFailure, tool } from 'adjutant';
import { plan } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dataOf } from './data-of.ts';

/** A planner that gives these answers, one after the other. */
function planner(...answers: readonly unknown[]) {
  return agent({
    name: 'planner',
    instructions: 'You divide goals into subtasks.',
    model: scriptedModel(
      answers.map((answer) => ({
        text: typeof answer === 'string' ? answer : JSON.stringify(answer),
      })),
    ),
  });
}

const book = tool({
  name: 'bookHotel',
  description: 'Books a hotel for some nights.',
  schema: z.object({ hotel: z.string(), nights: z.number() }),
  execute: ({ args }) => {
    if (args.hotel === 'Ritz') throw new ToolFailure('The Ritz is full in May.');
    return { hotel: args.hotel, total: args.nights * 90 };
  },
});
const flights = tool({
  name: 'findFlight',
  description: 'Finds a flight.',
  schema: z.object({ to: z.string() }),
  execute: ({ args }) => ({ flight: `AF12 to ${args.to}`, price: 120 }),
});
const itinerary = agent({
  name: 'itinerary',
  description: 'Writes the programme of a trip.',
  model: scriptedModel([{ text: 'Day 1: Louvre. Day 2: Orsay. Day 3: home.' }]),
});

test('three days in Paris: a hotel that is full leads to another one', async () => {
  const flight = {
    id: 'flight',
    description: 'Find a flight to Paris',
    tool: 'findFlight',
    args: { to: 'Paris' },
  };
  const stay = (hotel: string) => ({
    id: 'hotel',
    description: `Book the ${hotel}`,
    tool: 'bookHotel',
    args: { hotel, nights: 2 },
    critical: true,
  });
  const days = {
    id: 'days',
    description: 'Write a programme for three days',
    worker: 'itinerary',
    dependsOn: ['flight', 'hotel'],
  };
  const trip = plan({
    name: 'trip',
    planner: planner(
      { subtasks: [flight, stay('Ritz'), days] },
      `Another hotel:\n\`\`\`json\n${JSON.stringify([stay('Ibis'), days])}\n\`\`\``,
    ),
    workers: [itinerary],
    tools: [book, flights],
  });
  const { output, error, session } = await runtime({ app: 'travel' }).run(
    trip,
    'Plan a 3-day trip to Paris',
  );
  expect(error).toBeUndefined();
  expect(output).toEqual({
    flight: { flight: 'AF12 to Paris', price: 120 },
    hotel: { hotel: 'Ibis', total: 180 },
    days: 'Day 1: Louvre. Day 2: Orsay. Day 3: home.',
  });
  const revisions = session.events.filter((event) => event.type === 'plan');
  expect(revisions.map(({ revision, diff }) => [revision, diff])).toEqual([
    [1, { added: ['flight', 'hotel', 'days'], changed: [], removed: [], kept: [] }],
    [2, { added: [], changed: ['hotel'], removed: [], kept: ['flight', 'days'] }],
  ]);
  // The flight was found once, and the planner read why its plan had failed.
  const starts = session.events.filter((event) => event.type === 'invocation_start');
  expect(starts.filter(({ invocationId }) => invocationId.endsWith('/flight'))).toHaveLength(1);
  const asked = starts.findLast(({ name }) => name === 'planner');
  expect(asked?.input?.message).toContain('The Ritz is full in May.');
  expect(asked?.input?.message).toContain('- flight (completed) Find a flight to Paris');
});

test('the population of Tokyo, and 10 % of it', async () => {
  const search = agent({
    name: 'researcher',
    description: 'Finds facts.',
    model: scriptedModel([{ text: '{"population":14000000}' }]),
    output: z.object({ population: z.number() }),
  });
  const calculate = tool({
    name: 'calculate',
    description: 'Calculates a share.',
    schema: z.object({ of: z.number(), share: z.number() }),
    execute: ({ args }) => args.of * args.share,
  });
  const answer = plan({
    name: 'answer',
    planner: planner([
      { id: 'find', description: 'Find the population of Tokyo', worker: 'researcher' },
      {
        id: 'share',
        description: 'Calculate 10 % of it',
        tool: 'calculate',
        args: { of: { $from: 'find.output.population' }, share: 0.1 },
      },
    ]),
    workers: [search],
    tools: [calculate],
    output: ({ share }) => share ?? null,
  });
  const result = await runtime({ app: 'facts' }).run(
    answer,
    'Research the population of Tokyo and calculate 10 % of it',
  );
  expect(result.error).toBeUndefined();
  expect(result.output).toBe(1_400_000);
});

test('invoice triage: invoices are read side by side, and a large one is approved', async () => {
  const amounts: Readonly<Record<string, number>> = { i1: 40, i2: 9_000 };
  const read = step({
    name: 'read',
    execute: (ctx) => {
      const { invoice } = dataOf<{ invoice: string }>(ctx);
      return ctx.complete({ amount: amounts[invoice] ?? 0 });
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays an invoice.',
    schema: z.object({ invoice: z.string(), amount: z.number() }),
    approval: { when: ({ args }) => args.amount > 1_000 },
    execute: ({ args }) => ({ paid: args.amount }),
  });
  const triage = plan({
    name: 'triage',
    planner: () =>
      ['i1', 'i2'].flatMap((invoice) => [
        {
          id: `read_${invoice}`,
          description: `Read ${invoice}`,
          worker: 'read',
          args: { invoice },
        },
        {
          id: `pay_${invoice}`,
          description: `Pay ${invoice}`,
          tool: 'pay',
          args: { invoice, amount: { $from: `read_${invoice}.output.amount` } },
        },
      ]),
    workers: [read],
    tools: [pay],
  });
  const app = runtime({ app: 'accounts' });
  const first = await app.run(triage, 'Triage the invoices');
  expect(first.pendingCalls).toMatchObject([{ name: 'pay', args: { invoice: 'i2' } }]);
  await app.requests.answer(first.pendingCalls[0]?.requestId ?? '', {
    decision: 'approve',
    by: 'user:ann',
  });
  const { output } = await app.resume(first.session);
  expect(output).toMatchObject({ pay_i1: { paid: 40 }, pay_i2: { paid: 9_000 } });
});
