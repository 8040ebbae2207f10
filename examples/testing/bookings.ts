/** The agent that the tests of this folder are about, as it would be in production. */
import { agent, openai, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import { z } from 'zod';

/** The service that keeps appointments; not to be called in tests. */
async function book(date: string): Promise<{ bookingId: string }> {
  const response = await fetch('https://bookings.example.com/appointments', {
    method: 'POST',
    body: JSON.stringify({ date }),
  });
  return (await response.json()) as { bookingId: string };
}

const calculate = tool({
  name: 'calculate',
  description: 'Has the user calculate',
  schema: z.object({ expr: z.string() }),
  yieldSchema: z.object({ answer: z.number() }),
});

const bookAppointment = tool({
  name: 'bookAppointment',
  description: 'Books an appointment that the user confirms',
  schema: z.object({ date: z.iso.date() }),
  yieldSchema: z.object({ confirmed: z.boolean() }),
  execute: async (ctx) => {
    if (!ctx.input.confirmed) return { booked: false };
    const { bookingId } = await book(ctx.args.date);
    ctx.state['bookingId'] = bookingId;
    return { booked: true, bookingId };
  },
});

const cancelAppointment = tool({
  name: 'cancelAppointment',
  description: 'Cancels an appointment',
  schema: z.object({ bookingId: z.string() }),
  approval: { mayDecide: ['role:clerk'], allowEdit: true, expiresInMs: 3_600_000 },
  execute: (ctx) => {
    ctx.state['bookingId'] = undefined;
    return { cancelled: ctx.args.bookingId };
  },
});

export function deskWith(instructions: string) {
  return agent({
    name: 'desk',
    model: openai('gpt-5-mini'),
    context: [injectSystemMessage(instructions), includeHistory()],
    tools: [calculate, bookAppointment, cancelAppointment],
  });
}

export const desk = deskWith(
  'You are at the desk of a practice. Never promise an appointment that is not booked.',
);
