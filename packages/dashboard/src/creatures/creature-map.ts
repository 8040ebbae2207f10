import { type CreatureName, creatures, isCreatureName } from './registry.ts';

/** Choices of the reader: component or agent → creature. */
export type CreatureMap = Readonly<Record<string, CreatureName>>;

/** Longest list of choices that is kept. */
const mostChoices = 500;

/** Names that the registry itself knows: creatures, processes, components and labels. */
const known: ReadonlyMap<string, CreatureName> = new Map(
  creatures.flatMap(({ name, process, label, components = [] }) =>
    [label, process, ...components, name].map((word) => [folded(word), name] as const),
  ),
);
/** Creatures that stand for agents which nobody has given one. */
const forAgents = creatures.filter(({ zone }) => zone === 'acting').map(({ name }) => name);

/**
 * Returns the creature of a component or an agent: the one chosen by the reader, else the one of
 * the registry, else always the same for the same name.
 */
export function creatureFor(name: string, chosen: CreatureMap = {}): CreatureName {
  const own = Object.hasOwn(chosen, name) ? chosen[name] : undefined;
  return (
    own ?? known.get(folded(name)) ?? (forAgents[hash(name) % forAgents.length] as CreatureName)
  );
}

/** Returns the choices that a text holds; what is no choice is left out. */
export function readCreatureMap(text: string | null): CreatureMap {
  if (text === null) return {};
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== 'object' || found === null) return {};
    return Object.fromEntries(
      Object.entries(found)
        .filter((choice): choice is [string, CreatureName] => isCreatureName(choice[1]))
        .slice(0, mostChoices),
    );
  } catch {
    return {};
  }
}

/** Returns the map with one more choice; `undefined` takes it back. */
export function withChoice(
  map: CreatureMap,
  name: string,
  creature: CreatureName | undefined,
): CreatureMap {
  const others = Object.entries(map).filter(([one]) => one !== name);
  return Object.fromEntries(creature === undefined ? others : [...others, [name, creature]]);
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_]+/g, '-');
}

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) {
    value ^= character.codePointAt(0) ?? 0;
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  // The low bits of similar names differ little.
  return (value ^ (value >>> 15)) >>> 0;
}
