import { agent, type Event, type EventOf, type EventType, runtime, tool } from 'adjutant';
import type { Guardrail } from 'adjutant/guardrails';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';

export function eventsOf<Type extends EventType>(
  events: readonly Event[],
  type: Type,
): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** Returns the decisions of guardrails: `point decision guardrail`. */
export function decisions(events: readonly Event[]): readonly string[] {
  return eventsOf(events, 'decision').flatMap(({ component, decision, data }) =>
    component === 'guardrail' ? [`${data?.['point']} ${decision} ${data?.['guardrail']}`] : [],
  );
}

export function setUp(
  responses: readonly ScriptedResponse[],
  guardrails: readonly Guardrail[] | false,
  execute: (args: unknown) => unknown = () => 'sent',
) {
  const executed: unknown[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends a text',
    schema: { type: 'object' },
    execute: (ctx) => {
      executed.push(ctx.args);
      return execute(ctx.args);
    },
  });
  const model = scriptedModel(responses);
  const helper = agent({ name: 'helper', model, tools: [send], supervision: { guardrails } });
  const prompt = (call: number) => JSON.stringify(model.calls[call]?.prompt);
  return { app: runtime({ app: 'test', runnables: [helper] }), helper, model, executed, prompt };
}

export const calls = (text: string): ScriptedResponse => ({
  toolCalls: [{ name: 'send', args: { text } }],
});
export const at = (point: keyof Guardrail, verdict: object): Guardrail =>
  ({ name: 'watch', [point]: () => verdict }) as Guardrail;
