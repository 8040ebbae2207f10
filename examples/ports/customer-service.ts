/** Port of `examples/customer-service/index.ts` of openai-agents-js. */
import readline from 'node:readline/promises';
import { agent, runtime, type StateSchema, tool } from 'adjutant';
import { z } from 'zod';
import { faqModel, seatModel, triageModel } from './models.ts';

const stateSchema = {
  session: {
    passengerName: z.string(),
    confirmationNumber: z.string(),
    seatNumber: z.string(),
    flightNumber: z.string(),
  },
} satisfies StateSchema;

const faqLookup = tool({
  name: 'faq_lookup_tool',
  description: 'Looks up frequently asked questions.',
  schema: z.object({ question: z.string() }),
  readOnly: true,
  execute: (ctx) => {
    const question = ctx.args.question.toLowerCase();
    if (question.includes('bag'))
      return 'One bag may come on the plane: under 50 pounds, and 22 x 14 x 9 inches at most.';
    if (question.replace(/[\s\p{Pd}_]+/gu, '').includes('wifi'))
      return 'There is free wifi on the plane: join Airline-Wifi';
    if (question.includes('seats') || question.includes('plane'))
      return `There are 120 seats on the plane, 22 in business class and 98 in economy.
Rows 4 and 16 are exit rows. Rows 5-8 are Economy Plus, with extra legroom.`;
    return "I'm sorry, I do not know the answer to this question.";
  },
});

const updateSeat = tool({
  name: 'update_seat',
  description: 'Changes the seat on a flight',
  schema: z.object({ confirmationNumber: z.string(), seatNumber: z.string() }),
  stateSchema,
  execute: (ctx) => {
    const { confirmationNumber, seatNumber } = ctx.args;
    ctx.state.update({ confirmationNumber, seatNumber });
    return `Seat changed to ${seatNumber} for confirmation ${confirmationNumber}`;
  },
});

const system = `You are one of several agents who serve a customer together. An agent hands the
conversation over by a tool named transfer_to_<agent>. Do not speak of it to the customer.`;

const faqAgent = agent({
  name: 'FAQ Agent',
  description: 'Answers questions about the airline.',
  model: faqModel(),
  instructions: `${system}
You are the FAQ agent. Customers mostly come to you from the triage agent.
Keep to this routine.

# Routine
1. Find the last question of the customer.
2. Answer it with the faq lookup tool, not from what you know yourself.
3. If you cannot answer it, hand over to the triage agent.`,
  tools: [faqLookup],
  handoffs: [{ to: () => triageAgent, back: true }],
});

const seatBookingAgent = agent({
  name: 'Seat Booking Agent',
  description: 'Changes the seat on a flight.',
  model: seatModel(),
  instructions: `${system}
You are the seat booking agent. Customers mostly come to you from the triage agent.
Keep to this routine.

# Routine
1. Ask for the confirmation number.
2. Ask which seat the customer wants.
3. Change the seat with the update seat tool.
When the customer asks something else, hand over to the triage agent.`,
  tools: [updateSeat],
  handoffs: [{ to: () => triageAgent, back: true }],
});

const triageAgent = agent({
  name: 'Triage Agent',
  description: 'Gives a request to the agent who can deal with it.',
  model: triageModel(),
  instructions: `${system}
You are a helpful triage agent. Hand questions over to the agents who can deal with them.`,
  handoffs: [faqAgent, seatBookingAgent].map((to) => ({ to, back: true })),
});

const app = runtime({ app: 'airline', stateSchema, runnables: [triageAgent] });
const session = await app.sessions.open();
const rl = readline.createInterface({ input: process.stdin, output: process.stdout });

while (true) {
  const input = await rl.question('Enter your message: ').catch(() => 'exit');
  if (['exit', 'quit'].includes(input.trim().toLowerCase())) break;
  // The session knows who has the conversation.
  const current =
    [faqAgent, seatBookingAgent].find(({ name }) => name === session.currentAgentName) ??
    triageAgent;
  const run = app.run(current, { session, input });
  for await (const event of run)
    if (!('seq' in event))
      continue; // pieces of texts, while they come
    else if (event.type === 'assistant') console.log(`${event.agent}: ${event.text}`);
    else if (event.type === 'tool_call') console.log(`${event.agent}: Calling ${event.name}`);
    else if (event.type === 'handoff') console.log(`Handed over from ${event.from} to ${event.to}`);
    else if (event.type === 'tool_result') console.log('Tool result:', event.result.content);
    else console.log(`Skipping event: ${event.type}`);
  console.log('result.output:', JSON.stringify((await run).output, null, 2));
  console.log('context:', JSON.stringify(session.state, null, 2));
}
rl.close();
