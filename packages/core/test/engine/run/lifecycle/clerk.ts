import { agent, type Event } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

export const clerkOf = (texts: readonly string[] = ['done']) => {
  const model = scriptedModel(texts.map((text) => ({ text })));
  return { model, clerk: agent({ name: 'clerk', model }) };
};

export const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );
