import { runtime, step } from 'adjutant';
import { graph } from 'adjutant/plan';
import fc from 'fast-check';
import { type EdgeSpec, type GraphSpec, givenBy } from './reference-graph.ts';

const edge = fc.record({
  a: fc.nat(),
  b: fc.nat(),
  on: fc.constantFrom('value', 'value', 'value', 'error') as fc.Arbitrary<'value' | 'error'>,
  divisor: fc.constantFrom(1, 1, 2, 3, 0),
  max: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
});

/** Random graphs that can be defined: reached from their starts, cycles with limits. */
export const graphSpec = fc
  .record({
    size: fc.integer({ min: 1, max: 60 }),
    gives: fc.array(fc.array(fc.integer({ min: -2, max: 30 }), { minLength: 3, maxLength: 3 }), {
      minLength: 60,
      maxLength: 60,
    }),
    joins: fc.array(fc.constantFrom('all', 'all', 'all', 1, 2) as fc.Arbitrary<'all' | number>, {
      minLength: 60,
      maxLength: 60,
    }),
    edges: fc.array(edge, { maxLength: 120 }),
  })
  .map(({ size, gives, joins, edges }): GraphSpec => {
    const chosen = new Map<string, EdgeSpec>();
    const reach = (of: number): Set<number> => {
      const found = new Set([of]);
      for (const one of found)
        for (const { from, to, max } of chosen.values())
          if (from === one && max === undefined) found.add(to);
      return found;
    };
    for (const { a, b, on, divisor, max } of edges) {
      const [low, high] = [Math.min(a % size, b % size), Math.max(a % size, b % size)];
      const isBack = max !== undefined && reach(low).has(high);
      if (low === high && !isBack) continue;
      const made: EdgeSpec = isBack
        ? { from: high, to: low, on, divisor, max }
        : { from: low, to: high, on, divisor };
      const key = `${made.from} ${made.to} ${on}`;
      if (!chosen.has(key)) chosen.set(key, made);
    }
    const list = [...chosen.values()];
    const waysTo = (n: number) => list.filter(({ to, max }) => to === n && max === undefined);
    const ids = Array.from({ length: size }, (_, i) => i);
    return {
      nodes: ids.map((n) => {
        const join = joins[n] ?? 'all';
        const fits = join === 'all' || (waysTo(n).length > 1 && join <= waysTo(n).length);
        return { join: fits ? join : 'all', gives: gives[n] ?? [] };
      }),
      start: ids.filter((n) => waysTo(n).length === 0),
      edges: list,
    };
  });

/** Nodes of which no edge for values leads to another one. */
export function endsOf({ nodes, edges }: GraphSpec): readonly number[] {
  const leads = new Set(
    edges.flatMap(({ from, to, on }) => (on === 'value' && to !== from ? [from] : [])),
  );
  return [...nodes.keys()].filter((n) => !leads.has(n));
}

const visitOf = (path: string): number => Number(path.split('#')[1] ?? 1);
const nodeOf = (path: string): number => Number(path.split('#')[0]?.slice(1));

/** The graph of a spec; nodes take so many turns of the microtask queue. */
function graphOf(spec: GraphSpec, turns: readonly number[], parallel: number) {
  const nodes = spec.nodes.map((_, n) =>
    step({
      name: `n${n}`,
      execute: async (ctx) => {
        const path = ctx.invocationId.split('/').at(-1) ?? '';
        for (let i = 0; i < (turns[n % turns.length] ?? 0); i++) await undefined;
        const value = givenBy(spec, n, visitOf(path));
        return value < 0 ? ctx.fail(`${value}`) : ctx.complete(value);
      },
    }),
  );
  return graph({
    name: 'random',
    nodes: Object.fromEntries(nodes.map((node) => [node.name, node])),
    edges: spec.edges.map(({ from, to, on, divisor, max }) => ({
      from: `n${from}`,
      to: `n${to}`,
      ...(divisor === 0 ? { otherwise: true as const } : {}),
      ...(on === 'value' && divisor > 1
        ? { when: (value: unknown) => Number(value) % divisor === 0 }
        : {}),
      ...(on === 'error' ? { error: divisor > 1 ? failsBy(divisor) : (true as const) } : {}),
      ...(max === undefined ? {} : { max }),
    })) as never,
    ...(endsOf(spec).length === 0 ? { output: 'n0' } : {}),
    start: spec.start.map((n) => `n${n}`),
    joins: Object.fromEntries(spec.nodes.map(({ join }, n) => [`n${n}`, join])),
    limits: { parallel },
  });
}

const failsBy =
  (divisor: number) =>
  ({ message }: { readonly message: string }): boolean =>
    Number(message) % divisor === 0;

/** Runs the graph of a spec, and returns its end with what the ledger says of its nodes. */
export async function runSpec(spec: GraphSpec, turns: readonly number[], parallel: number) {
  const { status, output, error, session } = await runtime({ app: 'random' }).run(
    graphOf(spec, turns, parallel),
  );
  const ends: (readonly [number, number])[] = [];
  const begun: string[] = [];
  for (const event of session.events) {
    if (!('invocationId' in event)) continue;
    const path = event.invocationId?.split('/')[1];
    if (path === undefined) continue;
    if (event.type === 'invocation_start') begun.push(`${nodeOf(path)}.${visitOf(path)}`);
    if (event.type === 'invocation_end') ends.push([nodeOf(path), visitOf(path)]);
  }
  return { status, output, error, ends, begun, session };
}
