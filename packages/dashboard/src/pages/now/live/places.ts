import { pathOf } from '../../../address/paths.ts';
import type { CreatureMap } from '../../../creatures/creature-map.ts';
import { creatureFor } from '../../../creatures/creature-map.ts';
import {
  type CreatureName,
  creatures,
  type RegisteredCreature,
  type Zone,
} from '../../../creatures/registry.ts';
import type { Shown } from './shown.ts';

/** Place in a zone: it stays the same, whatever its creature does. */
export interface Place {
  readonly key: string;
  readonly zone: Zone;
  /** Component, agent or creature whose figure stands there. */
  readonly subject: string;
  readonly label: string;
  /** Page that it leads to while it has no session. */
  readonly href?: string;
}

/** Components that have a place also when nothing was heard of them. */
const residents: ReadonlySet<CreatureName> = new Set([
  ...(['jellyfish', 'siren', 'cerberus', 'hydra', 'ibis', 'gargoyle'] as const),
  ...(['owl', 'golem', 'clockwork', 'kraken', 'narwhal', 'sphinx', 'dragon'] as const),
  ...(['luna-moth', 'phoenix', 'phoenix-ash'] as const),
]);
const pages: Partial<Readonly<Record<CreatureName, string>>> = {
  hydra: '/triggers',
  ibis: '/sessions',
  sphinx: '/approvals',
  clockwork: '/tasks',
  cerberus: '/keys',
  hawk: '/evals',
  seahorse: '/sessions',
};

/** Acting creatures that the demo shows, beside those that it moves. */
const demoActors: ReadonlySet<CreatureName> = new Set([
  ...(['unicorn', 'centaur', 'scribe', 'roc', 'manticore', 'djinn'] as const),
]);

/** Returns the places of the demo: components, and a few agents that the app need not have. */
export function placesOfDemo({ showsAll = false } = {}): readonly Place[] {
  return creatures
    .filter(({ name }) => showsAll || residents.has(name) || demoActors.has(name))
    .map(placeOf);
}

interface PlaceOptions {
  /** Also places of creatures that stand for nothing of the app. @default false */
  readonly showsAll?: boolean;
  /** Choices of the reader. @default none */
  readonly chosen?: CreatureMap;
}

/**
 * Returns the places of an app: its components, and the agents that it has or that are at work.
 * @param heard components of which something was heard
 */
export function placesOfApp(
  agents: readonly string[],
  heard: ReadonlySet<CreatureName>,
  { showsAll = false, chosen = {} }: PlaceOptions = {},
): readonly Place[] {
  const components = creatures
    .filter(({ zone }) => zone !== 'acting')
    .filter(({ name }) => showsAll || residents.has(name) || heard.has(name))
    .map(placeOf);
  const taken = new Set(agents.map((name) => creatureFor(name, chosen)));
  return [
    ...components,
    ...agents.map(
      (name): Place => ({
        key: `agent ${name}`,
        zone: 'acting',
        subject: name,
        label: name,
        href: pathOf('agents', name),
      }),
    ),
    ...creatures
      .filter(({ zone, name }) => showsAll && zone === 'acting' && !taken.has(name))
      .map(placeOf),
  ];
}

function placeOf({ name, zone, process, label }: RegisteredCreature): Place {
  const href = pages[name];
  // An agent of this name would have a place of its own.
  const place = { key: name, zone, subject: zone === 'acting' ? name : process, label };
  return href === undefined ? place : { ...place, href };
}

/** Returns the creature that stands at a place. */
export function creatureAt({ subject }: Place, chosen: CreatureMap): CreatureName {
  return creatureFor(subject, chosen);
}

/** Returns how many of the places are at work. */
export function atWork(places: readonly Place[], shown: ReadonlyMap<string, Shown>): number {
  const states = new Set(['activating', 'working', 'spawning']);
  return places.filter(({ key }) => states.has(shown.get(key)?.state ?? 'idle')).length;
}
