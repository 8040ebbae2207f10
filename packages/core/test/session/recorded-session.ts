import { agent, type Event, run, type Session, sequence, session, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

export function userOf(state: Session['state']): Record<string, unknown> {
  return state['user'] as Record<string, unknown>;
}

let original: Promise<Session> | undefined;

/** A session of two steps and an agent that have changed state. */
export async function recorded(): Promise<Session> {
  original ??= record();
  return (await original).clone();
}

async function record(): Promise<Session> {
  const count = step({
    name: 'count',
    execute: (ctx) => {
      ctx.state['n'] = 1;
      userOf(ctx.state)['theme'] = 'dark';
    },
  });
  const writer = agent({
    name: 'writer',
    model: scriptedModel([{ text: 'done' }]),
    output: 'text',
  });
  const forget = step({
    name: 'forget',
    execute: (ctx) => {
      ctx.state['n'] = undefined;
    },
  });
  const made = await session('travel', { id: 's', userId: 'u' });
  await run(sequence({ name: 'all', runnables: [count, writer, forget] }), {
    session: made,
    input: 'Go',
    runId: 'run',
  });
  return made;
}

export function seqOf(events: readonly Event[], matches: (event: Event) => boolean): number {
  return events.find(matches)?.seq ?? Number.NaN;
}
