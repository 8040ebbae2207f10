import type { JsonObject, JsonValue, RequestAnswer } from 'adjutant';
import type { SimulatedProgram } from 'adjutant/testing';
import { Draws } from '../../src/testing/simulation/draws.ts';
import type { Wanted } from './program.ts';

/** Share of the requests for a value that people answer by a message. */
const messageShare = 0.75;
/** Result that people tell of an effect which happened. */
const toldResult = 5;

/** Schemas of the values that people are asked for. */
export const schemas: Readonly<Record<Wanted, JsonObject>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  colour: objectOf({ colour: { enum: ['red', 'blue'] } }),
  size: objectOf({ colour: { enum: ['red', 'blue'] }, size: { type: 'number' } }),
};

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** Messages that can be read as each value; a number is a text, too, and so may be ambiguous. */
const messages: Readonly<Record<Wanted, readonly string[]>> = {
  text: ['as you like', '7', 'colour: red'],
  number: ['7', ' 42 '],
  colour: ['{"colour":"red"}', 'colour: blue', 'red'],
  size: ['{"colour":"blue","size":3}', 'colour: red, size: 4', 'Size = 5\ncolour = blue'],
};
const values: Readonly<Record<Wanted, JsonValue>> = {
  text: 'as you wish',
  number: 8,
  colour: { colour: 'blue' },
  size: { colour: 'red', size: 9 },
};

/** The people around the programs of a seed: what they answer, and what they find out. */
export function peopleOf(seed: number): Pick<SimulatedProgram, 'answer' | 'repair'> {
  const draws = new Draws(seed).part('people');
  return {
    answer: ({ callId, kind, request }, times) => {
      const wants = wantedBy(request.inputSchema);
      if (kind !== 'input' || wants === undefined) return undefined;
      const place = `${callId} ${times}`;
      if (times === 1 && draws.at(`${place} by message`) < messageShare)
        return { message: draws.oneOf(`${place} message`, messages[wants]) };
      const answer: RequestAnswer = { by: 'user:ann', input: values[wants] };
      return answer;
    },
    repair: ({ attempt, callId }) => {
      const found = draws.at(`outcome of ${callId} ${attempt}`);
      if (found < 0.5) return { happened: true, result: toldResult };
      return found < 0.9 ? { happened: false } : { happened: false, failed: 'It was declined.' };
    },
  };
}

function wantedBy(schema: JsonObject | undefined): Wanted | undefined {
  const text = JSON.stringify(schema);
  return (Object.keys(schemas) as Wanted[]).find((one) => JSON.stringify(schemas[one]) === text);
}
