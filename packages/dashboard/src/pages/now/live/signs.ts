import type { ServerSession, ServerTrigger } from '@adjutant/server/client';
import { clock, plural } from '../../../components/format.ts';
import { creatureFor } from '../../../creatures/creature-map.ts';
import { type CreatureName, creatureOf } from '../../../creatures/registry.ts';
import type { Reading } from './reading.ts';
import { type Activity, activityOf, lastOf, recentDecisions, type Tail } from './tail.ts';

/** Present work of a component or an agent: a state that lasts, in words. */
export interface Sign {
  readonly state: 'idle' | 'working' | 'error' | 'yielding';
  readonly note?: string;
  /** Session in which it does so. */
  readonly session?: string;
}

/** Signs of components, by the creature of the registry, and of agents, by their names. */
export interface Signs {
  readonly components: ReadonlyMap<CreatureName, Sign>;
  readonly agents: ReadonlyMap<string, Sign>;
}

/** Milliseconds for which a decision or a message counts as work of its component. */
export const glowMs = 5_000;
/** Milliseconds for which a failed session is shown at its agent. */
export const failureMs = 5 * 60_000;
const mostDecisions = 100;

/** Returns what each component and each agent does, by what was read. */
export function signsOf(reading: Reading, now: number): Signs {
  const activities = new Map(reading.tails.map((tail) => [tail.session, activityOf(tail)]));
  return {
    components: componentSigns(reading, activities, now),
    agents: agentSigns(reading, activities, now),
  };
}

type Activities = ReadonlyMap<string, Activity>;

function componentSigns(
  reading: Reading,
  activities: Activities,
  now: number,
): ReadonlyMap<CreatureName, Sign> {
  const signs = new Map<CreatureName, Sign>();
  for (const decision of recentDecisions(reading.tails, mostDecisions)) {
    if (now - decision.at > glowMs) break;
    const creature = creatureFor(decision.component);
    // An acting creature stands for agents: a component that nobody knows has no place.
    if (signs.has(creature) || creatureOf(creature).zone === 'acting') continue;
    signs.set(creature, {
      state: 'working',
      note: decision.decision,
      session: decision.session,
    });
  }
  for (const [creature, sign] of standingSigns(reading, activities, now))
    if (sign !== undefined && signs.get(creature)?.state !== 'working') signs.set(creature, sign);
  return signs;
}

function standingSigns(
  reading: Reading,
  activities: Activities,
  now: number,
): readonly (readonly [CreatureName, Sign | undefined])[] {
  const running = reading.running.length;
  const queued = reading.tasks.filter(({ state }) => state === 'queued').length;
  const atWork = reading.tasks.filter(({ state }) => state === 'running').length;
  return [
    ['jellyfish', running === 0 ? undefined : working(plural(running, 'session'))],
    ['ibis', messageSign(reading.tails, now)],
    ['hydra', triggerSign(reading.triggers, now)],
    ['golem', running === 0 ? undefined : working(plural(running, 'session'))],
    ['owl', waitingSign(reading.waiting)],
    ['sphinx', reading.requests === 0 ? undefined : yielding(`${reading.requests} open`)],
    ['clockwork', queued + atWork === 0 ? undefined : working(`${queued} queued`)],
    ['narwhal', modelSign(reading, activities)],
  ];
}

function messageSign(tails: readonly Tail[], now: number): Sign | undefined {
  const tail = tails.find((one) => now - (lastOf(one, 'user') ?? 0) < glowMs);
  return tail === undefined ? undefined : working(tail.title, tail.session);
}

function triggerSign(triggers: readonly ServerTrigger[], now: number): Sign | undefined {
  const open = triggers.find((trigger) => trigger.open !== undefined);
  if (open?.open !== undefined) return working(open.name, open.open.session);
  const next = triggers
    .flatMap(({ nextAt }) => nextAt ?? [])
    .filter((at) => at > now)
    .sort((a, b) => a - b)[0];
  return next === undefined
    ? undefined
    : { state: 'idle', note: `next ${clock(next).slice(0, 5)}` };
}

function waitingSign(waiting: readonly ServerSession[]): Sign | undefined {
  const first = waiting.find(({ status }) => status === 'awaiting_input');
  return first === undefined ? undefined : yielding('for a person', first.id);
}

function modelSign(reading: Reading, activities: Activities): Sign | undefined {
  const asking = reading.running.flatMap(({ id }) =>
    (activities.get(id)?.models ?? []).map((model) => ({ model, id })),
  );
  const [first] = asking;
  if (first === undefined) return undefined;
  const note = asking.length === 1 ? first.model : plural(asking.length, 'call');
  return working(note, first.id);
}

function agentSigns(
  reading: Reading,
  activities: Activities,
  now: number,
): ReadonlyMap<string, Sign> {
  const signs = new Map<string, Sign>();
  /** Work goes before failures, failures before waits: the first sign of an agent stays. */
  const add = (agent: string | undefined, sign: Sign): void => {
    if (agent !== undefined && !signs.has(agent)) signs.set(agent, sign);
  };
  for (const { id, agent } of reading.running) {
    const activity = activities.get(id);
    for (const name of new Set([agent, ...(activity?.agents ?? [])]))
      add(name, working(activity?.words === name ? undefined : activity?.words, id));
  }
  for (const { agent, name, session, state } of reading.tasks)
    if (state === 'running') add(agent, working(name, session));
  for (const { id, agent, updatedAt } of reading.failed)
    if (now - updatedAt < failureMs)
      add(agent, { state: 'error', session: id, ...noteOf(activities.get(id)?.failure) });
  for (const { id, agent, status } of reading.waiting)
    add(agent, yielding(status === 'sleeping' ? 'sleeps' : 'for a person', id));
  return signs;
}

function working(note?: string, session?: string): Sign {
  return { state: 'working', ...noteOf(note), ...(session === undefined ? {} : { session }) };
}

function yielding(note: string, session?: string): Sign {
  return { state: 'yielding', note, ...(session === undefined ? {} : { session }) };
}

function noteOf(note: string | undefined): { readonly note?: string } {
  return note === undefined || note === '' ? {} : { note };
}
