/**
 * Models of the ports: the provider whose key is set, else a script for the conversation that
 * `37-ports.ts` plays.
 */
import { type Model, modelFromEnvironment } from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';

function played(...responses: ScriptedResponse[]): Model | ScriptedModel {
  return modelFromEnvironment() ?? scriptedModel(responses);
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
      { name: 'ask_weather_agent', args: { input: both.join(' and ') } },
    ],
  },
  { text: 'San Francisco: sunny, 20° Celsius. Oakland: sunny, temperature withheld.' },
);
