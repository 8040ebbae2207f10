import { type Agent, type AgentOptions, agent, type Event, type EventOf, type JsonValue, type Tool, tool } from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

type Calls = NonNullable<ScriptedResponse['toolCalls']>;

/**
 * A model that calls tools in every round, whatever it is told, until it may not any more; then it gives `answer`.
 * @param calls what it calls in the round with this index, counted over the life of the model
 */
export function stubbornModel(calls: (round: number) => Calls, answer = 'I could not read the page.'): ScriptedModel {
  const model: ScriptedModel = scriptedModel((_prompt, round) => {
    const options = model.calls[round];
    const mayCall = options?.toolChoice?.type !== 'none' && (options?.tools?.length ?? 0) > 0;
    return mayCall ? { toolCalls: calls(round) } : { text: answer };
  });
  return model;
}

/** A tool that counts how often it is entered. */
export function counting(
  name: string,
  execute: (args: JsonValue, times: number) => unknown,
  more: object = {},
): { tool: Tool; entered: JsonValue[] } {
  const entered: JsonValue[] = [];
  const counted = tool({
    name,
    description: `Does ${name}`,
    schema: z.looseObject({}),
    execute: ({ args }) => {
      entered.push(args as JsonValue);
      return execute(args as JsonValue, entered.length);
    },
    ...more,
  }) as Tool;
  return { tool: counted, entered };
}

/** What `fetch` throws for a page that answers 403. */
export function forbidden(): never {
  throw Object.assign(new Error('403 Forbidden'), { status: 403 });
}

/** A page that answers 403 every time, and an agent that wants it all the same. */
export function blockedPage(options: Partial<AgentOptions> = {}, answer?: string): { reader: () => Agent; entered: readonly JsonValue[] } {
  const page = counting('fetch_page', forbidden);
  const model = () => stubbornModel(() => [{ name: 'fetch_page', args: { url: 'https://page.example' } }], answer);
  return { reader: () => agent({ name: 'reader', model: model(), tools: [page.tool], ...options }), entered: page.entered };
}

/** Decisions of the loop detector. */
export function loopDecisions(events: readonly Event[]): readonly EventOf<'decision'>[] {
  return events.filter((event): event is EventOf<'decision'> => event.type === 'decision' && event.component === 'loop_detector');
}

export const settledResults = (events: readonly Event[]): readonly EventOf<'tool_result'>[] =>
  events.filter((event): event is EventOf<'tool_result'> => event.type === 'tool_result' && event.settled);
