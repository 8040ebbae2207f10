/** A random graph as data: what nodes give and what edges ask is read from tables. */
export interface GraphSpec {
  readonly nodes: readonly { readonly join: 'all' | number; readonly gives: readonly number[] }[];
  readonly start: readonly number[];
  readonly edges: readonly EdgeSpec[];
}

export interface EdgeSpec {
  readonly from: number;
  readonly to: number;
  readonly on: 'value' | 'error';
  /** Divisor of the outputs that the edge is taken for; 1 for each, 0 for `otherwise`. */
  readonly divisor: number;
  /** Missing for an edge that closes no cycle. */
  readonly max?: number;
}

/** A negative number is a failure. */
export const givenBy = (spec: GraphSpec, node: number, visit: number): number =>
  spec.nodes[node]?.gives[(visit - 1) % 3] ?? 0;

/** Carries out a graph, one end after the other, and tells what begins and how it all ends. */
export function reference(spec: GraphSpec, ends: readonly (readonly [number, number])[]) {
  const is = spec.nodes.map(() => 'idle');
  const visits = spec.nodes.map(() => 0);
  const flags = spec.edges.map(() => 'open');
  const used = spec.edges.map(() => 0);
  const [begun, cut] = [[] as string[], [] as string[]];
  const last = new Map<number, number>();
  let pending: number[] = [];
  const at = (i: number): EdgeSpec => spec.edges[i] as EdgeSpec;
  const edges = (test: (edge: EdgeSpec) => boolean): number[] =>
    spec.edges.flatMap((e, i) => (test(e) ? [i] : []));
  const onward = (of: number) => edges((e) => e.from === of && e.max === undefined);
  const reach = (of: number): number[] => [
    ...new Set([of, ...onward(of).flatMap((i) => reach(at(i).to))]),
  ];
  const begin = (n: number): void => {
    is[n] = 'busy';
    visits[n] = (visits[n] ?? 0) + 1;
    begun.push(`${n}.${visits[n]}`);
  };
  const finish = (n: number): void => {
    is[n] = 'gone';
    for (const i of onward(n)) flags[i] = 'no';
  };
  const leadsTo = (n: number) => [...is.keys()].filter((i) => i !== n && reach(i).includes(n));
  const servants = (n: number, all = leadsTo(n)): readonly number[] => {
    const kept = all.filter((i) =>
      edges((e) => e.from === i).every((e) => [n, ...all].includes(at(e).to)),
    );
    return kept.length === all.length ? all : servants(n, kept);
  };
  const settle = (): string | undefined => {
    for (;;) {
      let again = false;
      for (const [n, { join }] of spec.nodes.entries()) {
        const into = edges((e) => e.to === n && e.max === undefined);
        if (into.length === 0 || is[n] !== 'idle') continue;
        const [yes, open] = ['yes', 'open'].map((f) => into.filter((i) => flags[i] === f).length);
        const [has, may] = [yes ?? 0, (yes ?? 0) + (open ?? 0)];
        const ready = join === 'all' ? open === 0 && has > 0 : has >= join;
        const never = join === 'all' ? may === 0 : may < join;
        if (never && has > 0) return 'too_few_joined';
        if (never) finish(n);
        if (ready) begin(n);
        for (const one of ready && join !== 'all' ? servants(n) : []) {
          if (is[one] === 'busy') cut.push(`${one}.${visits[one]}`);
          if (is[one] !== 'gone') finish(one);
          pending = pending.filter((i) => at(i).from !== one);
        }
        again ||= never || ready;
      }
      if (again) continue;
      const isAtRest = (t: number) => reach(t).every((n) => is[n] !== 'busy');
      const next = Math.max(...pending.map((i) => at(i).to).filter(isAtRest));
      if (next < 0) return undefined;
      pending = pending.filter((i) => at(i).to !== next);
      for (const n of reach(next)) is[n] = 'idle';
      for (const i of reach(next).flatMap(onward)) flags[i] = 'open';
      begin(next);
    }
  };
  for (const n of spec.start) begin(n);
  for (const [n, visit] of ends) {
    if (is[n] !== 'busy' || visits[n] !== visit) continue;
    const value = givenBy(spec, n, visit);
    const of = (test: (divisor: number) => boolean): number[] =>
      edges((e) => e.from === n && (e.on === 'error') === value < 0 && test(e.divisor));
    const hits = of((divisor) => divisor > 0 && value % divisor === 0);
    const others = of((divisor) => divisor === 0);
    const may = (i: number) => (used[i] ?? 0) < (at(i).max ?? Number.POSITIVE_INFINITY);
    const taken = hits.some(may) ? hits.filter(may) : others.filter(may);
    last.set(n, value);
    const isLimited = taken.length === 0 && hits.length + others.length > 0;
    const stopped = isLimited ? 'cycle_limit' : undefined;
    const failed = taken.length === 0 && value < 0 ? 'step_failed' : stopped;
    for (const i of taken) used[i] = (used[i] ?? 0) + 1;
    const back = taken.filter((i) => at(i).max !== undefined);
    if (back.length === 0) finish(n);
    is[n] = 'gone';
    for (const i of taken) if (!back.includes(i)) flags[i] = 'yes';
    pending.push(...back);
    const error = failed ?? settle();
    if (error !== undefined) return { begun, cut, error };
  }
  return { begun, cut, last };
}
