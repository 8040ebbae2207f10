/**
 * A goal divided into subtasks: a planner gives them, code does them side by side, and a hotel that
 * is full leads to another plan without a person.
 */
import assert from 'node:assert/strict';
import { agent, runtime, ToolFailure, tool } from 'adjutant';
import { plan } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const findFlight = tool({
  name: 'findFlight',
  description: 'Finds a flight.',
  schema: z.object({ to: z.string() }),
  execute: ({ args }) => ({ flight: `AF12 to ${args.to}`, price: 120 }),
});
const bookHotel = tool({
  name: 'bookHotel',
  description: 'Books a hotel.',
  schema: z.object({ hotel: z.string(), nights: z.number() }),
  execute: ({ args }) => {
    if (args.hotel === 'Ritz') throw new ToolFailure('The Ritz is full in May.');
    return { hotel: args.hotel, price: args.nights * 90 };
  },
});
const guide = agent({
  name: 'guide',
  description: 'Writes the programme of a trip.',
  model: scriptedModel([{ text: 'Day 1: Louvre. Day 2: Orsay. Day 3: home.' }]),
});

const flight = {
  id: 'flight',
  description: 'Find a flight',
  tool: 'findFlight',
  args: { to: 'Paris' },
};
const stay = (hotel: string) => ({
  id: 'hotel',
  description: 'Book a hotel for two nights',
  tool: 'bookHotel',
  args: { hotel, nights: 2 },
  critical: true,
});
const days = {
  id: 'days',
  description: 'Write a programme for three days',
  worker: 'guide',
  dependsOn: ['flight', 'hotel'],
};
const planner = agent({
  name: 'planner',
  model: scriptedModel([
    { text: JSON.stringify([flight, stay('Ritz'), days]) },
    { text: `Then another hotel: ${JSON.stringify([stay('Ibis'), days])}` },
  ]),
});

const trip = plan({ name: 'trip', planner, workers: [guide], tools: [findFlight, bookHotel] });
const { output, session } = await runtime({ app: 'travel' }).run(trip, 'Three days in Paris');

for (const { seq, what } of explain(session.events)) console.log(`#${seq} ${what}`);
console.log(output);
assert.deepEqual(output?.['hotel'], { hotel: 'Ibis', price: 180 });
