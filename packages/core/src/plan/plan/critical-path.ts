/** A subtask with the time that it took, if it has run. */
interface Timed {
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly startedAt?: number;
  readonly endedAt?: number;
}

interface Chain {
  readonly ms: number;
  readonly length: number;
  readonly last: string;
  readonly before: Chain | undefined;
}

/**
 * Returns the ids of the chain of dependent subtasks that takes the longest. Of equal ones it is
 * that of the most subtasks; so a plan that has not run has its deepest chain.
 */
export function criticalPath(subtasks: readonly Timed[]): readonly string[] {
  const byId = new Map(subtasks.map((one) => [one.id, one]));
  const chains = new Map<string, Chain>();
  const chainTo = (id: string): Chain | undefined => {
    const known = chains.get(id);
    const subtask = byId.get(id);
    if (known !== undefined || subtask === undefined) return known;
    const { startedAt, endedAt } = subtask;
    const ms = startedAt === undefined || endedAt === undefined ? 0 : endedAt - startedAt;
    const before = longest(subtask.dependsOn.map(chainTo));
    const chain = {
      ms: ms + (before?.ms ?? 0),
      length: 1 + (before?.length ?? 0),
      last: id,
      before,
    };
    chains.set(id, chain);
    return chain;
  };
  const ids: string[] = [];
  for (
    let chain = longest(subtasks.map(({ id }) => chainTo(id)));
    chain !== undefined;
    chain = chain.before
  )
    ids.unshift(chain.last);
  return ids;
}

function longest(chains: readonly (Chain | undefined)[]): Chain | undefined {
  let found: Chain | undefined;
  for (const chain of chains) {
    if (chain === undefined) continue;
    const isLonger =
      found === undefined ||
      chain.ms > found.ms ||
      (chain.ms === found.ms && chain.length > found.length);
    if (isLonger) found = chain;
  }
  return found;
}
