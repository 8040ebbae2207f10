import { runtime, step } from 'adjutant';
import { plan } from 'adjutant/plan';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataOf } from './data-of.ts';
import { idOf, type Node, referenceValues, subtasksOf } from './reference-plan.ts';

const graphs = fc.integer({ min: 1, max: 60 }).chain((size) =>
  fc.record({
    nodes: fc.tuple(
      ...Array.from({ length: size }, (_, place) => {
        const before = fc.uniqueArray(fc.nat({ max: Math.max(0, place - 1) }), {
          maxLength: place === 0 ? 0 : 3,
        });
        return fc.record({
          n: fc.nat({ max: 1_000 }),
          uses: before,
          after: before,
          failures: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2),
        });
      }),
    ),
    order: fc.shuffledSubarray(
      Array.from({ length: size }, (_, place) => place),
      { minLength: size, maxLength: size },
    ),
    parallel: fc.integer({ min: 1, max: 8 }),
    turns: fc.array(fc.nat({ max: 3 }), { minLength: size, maxLength: size }),
  }),
);

test('any plan gives what a reference executor gives, in order and within its limit', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async ({ nodes, order, parallel, turns }) => {
      const failed = new Map<string, number>();
      const done: string[] = [];
      let atOnce = 0;
      const work = step({
        name: 'work',
        execute: async (ctx) => {
          const id = ctx.invocationId.replace(/^.*\/([^#/]+)(#\d+)?$/, '$1');
          const place = Number(id.slice(1));
          const { uses, after, failures } = nodes[place] as Node;
          for (const before of [...uses, ...after]) expect(done).toContain(idOf(before));
          atOnce++;
          expect(atOnce).toBeLessThanOrEqual(parallel);
          for (let i = 0; i < (turns[place] ?? 0); i++)
            await new Promise((resolve) => setImmediate(resolve));
          atOnce--;
          const attempt = (failed.get(id) ?? 0) + 1;
          failed.set(id, attempt);
          if (attempt <= failures) return ctx.fail(`Attempt ${attempt}`);
          done.push(id);
          const { n, below } = dataOf<{ n: number; below: readonly number[] }>(ctx);
          return ctx.complete({ value: below.reduce((sum, one) => sum + one, n) });
        },
      });
      const any = plan({
        name: 'any',
        planner: () => subtasksOf(nodes, order),
        workers: [work],
        limits: { subtasks: 60, replans: 1_000, parallel },
      });
      const { output, error } = await runtime({ app: 'laws' }).run(any, 'Go');
      expect(error).toBeUndefined();
      expect(output).toEqual(referenceValues(nodes));
      // Nothing that completed was done again.
      expect(new Set(done).size).toBe(done.length);
    }),
    { numRuns: 60 },
  );
});

const ids = fc.constantFrom('a', 'b', 'c', 'd', '', 'plan#1', '__proto__', 'x'.repeat(70));
const garbage = fc.oneof(
  { weight: 2, arbitrary: fc.jsonValue() },
  {
    weight: 5,
    arbitrary: fc.array(
      fc.oneof(
        { weight: 1, arbitrary: fc.jsonValue() },
        {
          weight: 6,
          arbitrary: fc.record(
            {
              id: ids,
              description: fc.constantFrom('Do it', '', 7),
              dependsOn: fc.oneof(fc.array(ids, { maxLength: 3 }), fc.constant('a')),
              worker: fc.constantFrom('work', 'nobody'),
              args: fc.oneof(
                fc.record({ n: fc.oneof(fc.integer(), fc.record({ $from: fc.string() })) }),
                fc.record({ n: fc.record({ $from: ids.map((id) => `${id}.output.n`) }) }),
                fc.jsonValue(),
              ),
              critical: fc.oneof(fc.boolean(), fc.constant('yes')),
              budget: fc.jsonValue(),
              surprise: fc.jsonValue(),
            },
            { requiredKeys: ['id', 'description'] },
          ),
        },
      ),
      { maxLength: 8 },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.uniqueArray(
      fc.record(
        {
          id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
          description: fc.constant('Do it'),
          dependsOn: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
          args: fc.record({ n: fc.record({ $from: fc.constantFrom('a.output.n', 'a.output') }) }),
        },
        { requiredKeys: ['id', 'description'] },
      ),
      { selector: ({ id }) => id, minLength: 1 },
    ),
  },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 500 }, (_, i) => ({ id: `s${i}` }))) },
);

test('whatever a planner gives, the plan ends: carried out, or with a clear error', async () => {
  const work = step({ name: 'work', execute: (ctx) => ctx.complete({ n: 1 }) });
  let carriedOut = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(garbage, { minLength: 1, maxLength: 4 }), async (answers) => {
      let asked = 0;
      const any = plan({
        name: 'any',
        planner: () => answers[asked++ % answers.length] as never,
        workers: [work],
      });
      const { status, error } = await runtime({ app: 'laws' }).run(any, 'Go');
      if (status === 'completed') carriedOut++;
      else {
        expect(status).toBe('error');
        expect(error?.code).toMatch(/^plan(ner)?_(invalid|failed)$/);
        expect(error?.message.length).toBeLessThan(20_000);
      }
    }),
    { numRuns: 300 },
  );
  expect(carriedOut).toBeGreaterThan(0);
});
