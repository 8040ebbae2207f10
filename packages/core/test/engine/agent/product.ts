import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type AgentOptions,
  agent,
  type Event,
  type EventOf,
  type RunResult,
  runtime,
} from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

export const product = z.object({ name: z.string(), price: z.number() });
export const lamp = '{"name":"Lamp","price":12}';

export const decisionsOf = (events: readonly Event[]) =>
  events.filter(
    (event): event is EventOf<'decision'> =>
      event.type === 'decision' && event.component === 'output',
  );

export async function answer(
  options: Partial<AgentOptions>,
  responses: readonly ScriptedResponse[],
): Promise<{ result: RunResult; model: ScriptedModel }> {
  const model = scriptedModel(responses);
  const result = await runtime({ app: 'shop' }).run(
    agent({ name: 'seller', model, ...options } as AgentOptions),
    'What do you sell?',
  );
  return { result, model };
}

export const textsOf = (prompt: LanguageModelV4Prompt | undefined): string =>
  JSON.stringify(prompt ?? []);
