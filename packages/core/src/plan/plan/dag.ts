/** Part of a graph without circles: it comes after those that it depends on. */
interface Dependent {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * Returns the ids of a circle of dependencies in order, the first one again at its end; `undefined`
 * when there is none. Dependencies on ids that are not in the list are ignored.
 */
export function circleIn(parts: readonly Dependent[]): readonly string[] | undefined {
  const byId = new Map(parts.map((part) => [part.id, part]));
  const left = new Map(parts.map(({ id, dependsOn }) => [id, countIn(byId, dependsOn)]));
  const dependents = new Map<string, string[]>();
  for (const { id, dependsOn } of parts)
    for (const before of new Set(dependsOn))
      dependents.set(before, [...(dependents.get(before) ?? []), id]);
  const free = parts.flatMap(({ id }) => (left.get(id) === 0 ? [id] : []));
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left.delete(id);
    for (const after of dependents.get(id) ?? []) {
      const count = (left.get(after) ?? 0) - 1;
      left.set(after, count);
      if (count === 0) free.push(after);
    }
  }
  const [start] = left.keys();
  return start === undefined ? undefined : circleFrom(start, byId, left);
}

function countIn(byId: ReadonlyMap<string, Dependent>, ids: readonly string[]): number {
  return [...new Set(ids)].filter((id) => byId.has(id)).length;
}

/** Follows dependencies among the parts that are left until one comes again. */
function circleFrom(
  start: string,
  byId: ReadonlyMap<string, Dependent>,
  left: ReadonlyMap<string, number>,
): readonly string[] {
  const way: string[] = [];
  let id = start;
  while (!way.includes(id)) {
    way.push(id);
    id = byId.get(id)?.dependsOn.find((before) => left.has(before)) ?? id;
  }
  return [...way.slice(way.indexOf(id)), id].reverse();
}
