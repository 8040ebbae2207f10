import { type Event, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

export const app = () => runtime({ app: 'limits' });

/** Calls a tool in every round, each time with other arguments. */
export function busy(name: string, usage = { inputTokens: 10, outputTokens: 5 }) {
  let calls = 0;
  return scriptedModel(() => ({
    text: `note ${calls}`,
    toolCalls: [{ name, args: { at: calls++ } }],
    usage,
  }));
}

export function limitDecisions(events: readonly Event[]) {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'limits' ? [event] : [],
  );
}
