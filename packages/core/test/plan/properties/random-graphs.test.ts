import { graphMermaid, graphViews } from 'adjutant/plan';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endsOf, graphSpec, runSpec } from './random-graphs.ts';
import { reference } from './reference-graph.ts';

const turns = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 8 });
const parallel = fc.constantFrom(1, 2, 8, 64);

test('random graphs go the way of the reference, in whatever order their nodes end', async () => {
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(graphSpec, turns, parallel, async (spec, some, limit) => {
      const { status, output, error, ends: ended, begun } = await runSpec(spec, some, limit);
      const expected = reference(spec, ended);
      met.set(expected.error ?? 'completed', (met.get(expected.error ?? 'completed') ?? 0) + 1);
      expect(error?.code).toBe(expected.error);
      expect(status).toBe(expected.error === undefined ? 'completed' : 'error');
      expect(expected.begun).toEqual(expect.arrayContaining(begun));
      // An execution that was to begin may not have begun when a join or a failure ended its time.
      const missing = expected.begun.filter((key) => !begun.includes(key));
      if (expected.error === undefined)
        expect(expected.cut).toEqual(expect.arrayContaining(missing));
      const { last } = expected;
      if (last === undefined) return;
      const ends = endsOf(spec);
      const given = (ends.length === 0 ? [0] : ends).flatMap((n) => {
        const value = last.get(n);
        return value === undefined || value < 0 ? [] : [[`n${n}`, value] as const];
      });
      expect(output).toEqual(ends.length < 2 ? given[0]?.[1] : Object.fromEntries(given));
    }),
    { numRuns: 400 },
  );
  for (const end of ['completed', 'step_failed', 'cycle_limit', 'too_few_joined'])
    expect([end, met.get(end)]).not.toEqual([end, undefined]);
});

test('the view of each prefix can be drawn, and that of the whole has every execution', async () => {
  await fc.assert(
    fc.asyncProperty(graphSpec, turns, async (spec, some) => {
      const { session, begun } = await runSpec(spec, some, 8);
      for (let length = 0; length < session.events.length; length += 7)
        for (const view of graphViews(session.events.slice(0, length)))
          expect(graphMermaid(view)).toMatch(/^flowchart/);
      const [view] = graphViews(session);
      expect(view?.nodes.flatMap(({ executions }) => executions)).toHaveLength(begun.length);
    }),
    { numRuns: 40 },
  );
});
