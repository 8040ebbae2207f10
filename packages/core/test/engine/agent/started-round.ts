import { agent, type Event, type EventOf, type EventType, runtime, type Tool } from 'adjutant';
import { type ScriptedResponse, scriptedModel, testClock } from 'adjutant/testing';
import { z } from 'zod';

export const quiet = z.object({});
export const of = <Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);
export const settled = (events: readonly Event[]) =>
  of(events, 'tool_result').filter((event) => event.settled);

/** An agent that calls these tools in its first round, on a clock that stands still. */
export async function start(
  tools: readonly Tool[],
  calls: ScriptedResponse['toolCalls'] & object,
  more: readonly ScriptedResponse[] = [{ text: 'done' }],
) {
  const clock = testClock();
  const app = runtime({ app: 'rounds', ports: { clock } });
  const session = await app.sessions.open();
  const model = scriptedModel([{ toolCalls: calls }, ...more]);
  const running = app.run(agent({ name: 'a', model, tools, toolConcurrency: 2 }), {
    input: 'Go',
    session,
    runId: 'run',
  });
  return { clock, session, model, running };
}
