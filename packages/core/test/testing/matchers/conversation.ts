import { stripVTControlCharacters } from 'node:util';
import { agent, type RunResult, run, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const getWeather = tool({
  name: 'getWeather',
  description: 'Weather of a city',
  schema: z.object({ city: z.string(), days: z.int() }),
  execute: (ctx) => {
    ctx.state['lastCity'] = ctx.args.city;
    ctx.state['trip'] = { city: ctx.args.city, days: ctx.args.days };
    return { sky: 'clear', degrees: 21 };
  },
});

const bookTrain = tool({
  name: 'bookTrain',
  description: 'Books a train',
  schema: z.object({ to: z.string() }),
  execute: (ctx) => `Booked to ${ctx.args.to}`,
});

/** Two calls one after the other, a tool that does not exist, and two texts. */
export function askForTrip(): Promise<RunResult> {
  const model = scriptedModel([
    { text: 'Let me see.', toolCalls: [{ name: 'getWeather', args: { city: 'Rome', days: 3 } }] },
    { toolCalls: [{ name: 'bookTrain', args: { to: 'Rome' } }, { name: 'bookPlane' }] },
    { text: 'It is clear in Rome, and your train is booked.' },
  ]);
  return Promise.resolve(
    run(agent({ name: 'travel', model, tools: [getWeather, bookTrain] }), 'I want to go to Rome'),
  );
}

/** The message that an assertion fails with, without colours. */
export function failureOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return stripVTControlCharacters((error as Error).message);
  }
  throw new Error('The assertion passed.');
}

/** The code of the error that a wrong use of a matcher throws, and its message. */
export function misuseOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
  throw new Error('The assertion passed.');
}
