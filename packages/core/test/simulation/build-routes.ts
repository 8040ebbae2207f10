import { type Runnable, step } from 'adjutant';
import { graph, router } from 'adjutant/plan';
import type { Program } from './program.ts';

const failing = (name: string): Runnable =>
  step({ name, effects: false, execute: (ctx) => ctx.fail('as it should') });

/** A graph whose first node fails, whose parts follow each other, and which goes back at its end. */
export function buildGraph(
  { id, rounds }: Extract<Program, { readonly kind: 'graph' }>,
  parts: readonly Runnable[],
): Runnable {
  const gate = step({ name: `${id}_gate`, effects: false, execute: (ctx) => ctx.complete(1) });
  const names = parts.map((_, i) => `p${i}`);
  const line = [...names, 'gate'];
  const nodes: Record<string, Runnable> = {
    fails: failing(`${id}_fails`),
    gate,
    end: step({ name: `${id}_end`, effects: false, execute: (ctx) => ctx.complete('ended') }),
    ...Object.fromEntries(parts.map((part, i) => [`p${i}`, part])),
  };
  return graph({
    name: id,
    nodes,
    edges: [
      { from: 'fails', to: 'p0', error: 'step_failed' },
      ...line.slice(1).map((to, i) => ({ from: line[i] as string, to })),
      ...(rounds > 1 ? [{ from: 'gate', to: 'p0', max: rounds - 1 }] : []),
      { from: 'gate', to: 'end', otherwise: true as const },
    ],
    start: 'fails',
  });
}

/** A router that comes to its part when two routes have failed. */
export function buildRouter(
  { id }: Extract<Program, { readonly kind: 'router' }>,
  part: Runnable,
): Runnable {
  return router({
    name: id,
    routes: [failing(`${id}_one`), failing(`${id}_two`), part],
    rules: [{ to: `${id}_one`, when: () => true }],
    fallback: `${id}_two`,
    default: part.name,
  });
}
