import { type KnownAs, optionIdeas } from './option-ideas.ts';

const ideas: ReadonlyMap<string, readonly KnownAs[]> = ideasByName();

/** Returns the ideas of each name: those of a certain place before those of all places. */
function ideasByName(): ReadonlyMap<string, readonly KnownAs[]> {
  const found = new Map<string, KnownAs[]>();
  const isOfPlace = ({ beside }: KnownAs) => beside !== undefined;
  const sorted = optionIdeas.toSorted(
    ([, a], [, b]) => Number(isOfPlace(b)) - Number(isOfPlace(a)),
  );
  for (const [names, idea] of sorted)
    for (const name of names.split(' ').map(comparable))
      found.set(name, [...(found.get(name) ?? []), idea]);
  return found;
}

/** Options by which agents, tools, steps, compositions, runtimes and runs are recognised. */
const mainPlaces: readonly string[] = [
  'toolConcurrency',
  'onRepeat',
  'onDrift',
  'runnables',
  'runnable',
  'onStep',
];

/**
 * Returns the hint about a name that these options do not have but that stands for an idea which
 * they, or other definitions, have; `undefined` for other names.
 */
export function ideaHint(name: string, options: readonly string[]): string | undefined {
  for (const idea of ideas.get(comparable(name)) ?? []) {
    const hint = hintAt(idea, options);
    if (hint !== undefined) return hint;
  }
  return undefined;
}

/** Returns the hint of an idea at the place that has these options. */
function hintAt(idea: KnownAs, options: readonly string[]): string | undefined {
  if (idea.beside !== undefined && !options.includes(idea.beside)) return undefined;
  const found = idea.names.find((one) => options.includes(one.split('.')[0] as string));
  if (found !== undefined) {
    const isFormer = idea.isFormer === true && !found.includes('.');
    const told = isFormer ? `it is called \`${found}\` now` : `it is \`${found}\` here`;
    return idea.remark === undefined ? told : `${told} ${idea.remark}`;
  }
  const isLookedFor =
    idea.beside !== undefined || mainPlaces.some((place) => options.includes(place));
  return isLookedFor ? idea.elsewhere : undefined;
}

/** Returns a name as it is compared: without case, `_` and `-`. */
function comparable(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
