import type { Subtask } from 'adjutant/plan';

/** A node of a random plan: its value is its number plus the values of those before it. */
export interface Node {
  readonly n: number;
  /** Places of nodes before it, by their values. */
  readonly uses: readonly number[];
  /** Places of nodes that only come before it. */
  readonly after: readonly number[];
  /** Attempts that fail. */
  readonly failures: number;
}

export const idOf = (place: number): string => `n${place}`;

/** The nodes as subtasks, in the given order. */
export function subtasksOf(nodes: readonly Node[], order: readonly number[]): Subtask[] {
  return order.map((place) => {
    const { n, uses, after } = nodes[place] as Node;
    return {
      id: idOf(place),
      description: `Node ${place}`,
      dependsOn: after.map(idOf),
      args: { n, below: uses.map((one) => ({ $from: `${idOf(one)}.output.value` })) },
    };
  });
}

/** Carries the nodes out one after the other, and returns the value of each by its id. */
export function referenceValues(nodes: readonly Node[]): Record<string, { value: number }> {
  const values: number[] = [];
  for (const { n, uses } of nodes)
    values.push(uses.reduce((sum, place) => sum + (values[place] as number), n));
  return Object.fromEntries(values.map((value, place) => [idOf(place), { value }]));
}
