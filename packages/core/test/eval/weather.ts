import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type Agent, agent, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import type { EvalCaseInput } from 'adjutant/eval';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';

/** The last thing that the user says in a prompt. */
export function saidLast(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user');
  const parts = message?.role === 'user' ? message.content : [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Record of the world around the weather agent: effects are what must not happen twice. */
export interface Weather {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  /** Cities that the tool was called for, in order. */
  readonly asked: string[];
  /** Trials whose model is being asked, at most. */
  mostAtOnce: number;
}

export interface WeatherOptions {
  readonly instructions?: string;
  /** Answer of the model instead. `undefined`: as usual. */
  readonly answers?: (city: string, prompt: LanguageModelV4Prompt) => ScriptedResponse | undefined;
  /** Awaited by each call of the tool. */
  readonly hold?: () => Promise<unknown>;
}

/**
 * An agent that asks a tool for the weather of the city that the user names, and says what came of
 * it.
 */
export function weather({
  instructions = 'You tell the weather.',
  answers,
  hold,
}: WeatherOptions = {}): Weather {
  const asked: string[] = [];
  let atOnce = 0;
  const model = scriptedModel((prompt) => {
    const city = saidLast(prompt);
    const other = answers?.(city, prompt);
    if (other !== undefined) return other;
    if (prompt.at(-1)?.role === 'tool') return { text: `It is 28 degrees in ${city}.` };
    return { toolCalls: [{ name: 'weather', args: { city } }] };
  });
  const lookUp = tool({
    name: 'weather',
    description: 'Says the weather of a city',
    readOnly: true,
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute: async ({ args }) => {
      const { city } = args as { city: string };
      asked.push(city);
      world.mostAtOnce = Math.max(world.mostAtOnce, ++atOnce);
      await hold?.();
      atOnce--;
      return { city, celsius: 28 };
    },
  });
  const world: Weather = {
    agent: agent({
      name: 'weather',
      model,
      tools: [lookUp],
      context: [injectSystemMessage(instructions), includeHistory()],
    }),
    model,
    asked,
    mostAtOnce: 0,
  };
  return world;
}

export function weatherCase(city: string, more: Partial<EvalCaseInput> = {}): EvalCaseInput {
  return {
    id: city.toLowerCase(),
    input: city,
    expect: {
      tools: [{ name: 'weather', args: { city } }],
      response: `It is 28 degrees in ${city}.`,
    },
    ...more,
  };
}

export const cities: readonly string[] = ['Pune', 'Oslo', 'Lima', 'Bonn', 'Rome', 'Kyiv'];
