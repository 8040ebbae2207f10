/**
 * Models of the ports: those of OpenAI where its key is set, as in the originals. Else a script for
 * the conversation that `37-ports.ts` plays.
 */
import { type JsonObject, type Model, type OpenAiSettings, openai } from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';

type PortModel = (settings?: OpenAiSettings) => Model | ScriptedModel;

function played(...responses: ScriptedResponse[]): PortModel {
  return (settings) =>
    process.env['OPENAI_API_KEY'] ? openai('gpt-4o', settings) : scriptedModel(responses);
}

const both = ['San Francisco', 'Oakland'];

export const weatherReporter = played(
  { toolCalls: both.map((city) => ({ name: 'get_weather', args: { city } })) },
  { text: 'It is sunny in San Francisco and in Oakland.' },
);

export const weatherAssistant = played(
  {
    toolCalls: [
      ...both.map((city) => ({ name: 'get_temperature', args: { city } })),
      { name: 'ask_weather_agent', args: { message: both.join(' and ') } },
    ],
  },
  { text: 'San Francisco: sunny, 20° Celsius. Oakland: sunny, temperature withheld.' },
);

const winner = { toolCalls: [{ name: 'search', args: { query: 'Australian Open 2024 winner' } }] };
const hometown = { toolCalls: [{ name: 'search', args: { query: 'Jannik Sinner hometown' } }] };

export const executorModel = played(
  { toolCalls: [{ name: 'search', args: { query: 'US Open winner' } }] },
  { text: 'The search names the winners.' },
  winner,
  { text: 'Jannik Sinner won.' },
  hometown,
  { text: 'He is from Sexten.' },
);

const find = 'Find the winner of the Australian Open 2024';
const where = 'Find the hometown of Jannik Sinner';

export const plannerModel = played(
  { text: JSON.stringify({ steps: ['Find the winner', 'Find the hometown'] }) },
  { text: JSON.stringify({ steps: [find, 'Find the hometown of the winner'] }) },
);

export const replannerModel = played(
  { text: JSON.stringify({ steps: [where] }) },
  { text: JSON.stringify({ response: 'Jannik Sinner is from Sexten.' }) },
);

const call = (name: string, args: JsonObject = {}): ScriptedResponse => ({
  toolCalls: [{ name, args }],
});

export const triageModel = played(
  call('transfer_to_FAQ_Agent'),
  call('transfer_to_Seat_Booking_Agent'),
);

export const faqModel = played(
  call('faq_lookup_tool', { question: 'How many bags may I bring?' }),
  { text: 'You may bring one bag of up to 50 pounds.' },
  call('transfer_to_Triage_Agent'),
);

export const seatModel = played(
  { text: 'What is your confirmation number, and which seat would you like?' },
  call('update_seat', { confirmationNumber: 'ABC123', seatNumber: '23A' }),
  { text: 'You have seat 23A now.' },
);

export const personInventor = played({ text: 'Marie Curie' });

export const verifier = played({ text: '{"isCorrect":false}' }, { text: '{"isCorrect":true}' });

export const gameMaster = played({ text: 'Yes.' }, { text: 'Congratulations!' });
