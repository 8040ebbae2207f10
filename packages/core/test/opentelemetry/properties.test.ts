import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { agent, parallel, type Runnable, runtime, sequence, step, tool } from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordedSpans } from './span-tree.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/**
 * An invocation: parts one after the other or at once, steps, and agents that call a tool, which
 * calls another one.
 */
type Shape =
  | { readonly kind: 'sequence' | 'parallel'; readonly parts: readonly Shape[] }
  | { readonly kind: 'agent'; readonly inner: Shape }
  | { readonly kind: 'step'; readonly fails: boolean };

const shapes = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('step' as const), fails: fc.boolean() }),
    fc.record({
      kind: fc.constantFrom('sequence' as const, 'parallel' as const),
      parts: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('agent' as const), inner: tie('shape') }),
  ),
})).shape;

function runnableOf(shape: Shape, name: string): Runnable {
  switch (shape.kind) {
    case 'step':
      return step({
        name,
        execute: async () => {
          await Promise.resolve();
          if (shape.fails) throw new Error('It fails.');
        },
      });
    case 'agent': {
      const inner = runnableOf(shape.inner, `${name}_0`);
      const use = tool({
        name: 'use',
        description: 'Uses another',
        schema: { type: 'object' },
        execute: async (ctx) => (await ctx.call(inner, { message: 'Go' })).status,
      });
      return agent({
        name,
        model: scriptedModel([{ toolCalls: [{ name: 'use', args: {} }] }, { text: 'done' }]),
        tools: [use],
      });
    }
    default: {
      const runnables = shape.parts.map((part, index) => runnableOf(part, `${name}_${index}`));
      return shape.kind === 'sequence'
        ? sequence({ name, runnables })
        : parallel({ name, runnables });
    }
  }
}

/**
 * Returns the parent of an invocation's span by the path of the invocation: a tool of that path, or
 * the invocation there.
 */
function expectedAbove(
  span: ReadableSpan,
  spans: readonly ReadableSpan[],
): ReadableSpan | undefined {
  const path = String(span.attributes['adjutant.invocation.id']);
  const above = path.slice(0, path.lastIndexOf('/'));
  return spans.find(({ name, attributes }) =>
    name === 'round'
      ? false
      : attributes['adjutant.call.id'] === above ||
        (!name.startsWith('run ') && attributes['adjutant.invocation.id'] === above),
  );
}

test(
  'whatever is run at once: each invocation has one span, below what its path is below, and ' +
    'all spans end',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(shapes, { minLength: 1, maxLength: 3 }), async (several) => {
        const { tracerProvider, spans } = recordedSpans();
        const app = runtime({ app: 'test', middleware: [openTelemetry({ tracerProvider })] });
        const results = await Promise.all(
          several.map((shape, index) =>
            app.run(runnableOf(shape, `n${index}`), {
              input: 'Go',
              runId: `run_${index}`,
              session: `s${index}`,
            }),
          ),
        );
        const all = await spans();
        for (const [index, { session, status }] of results.entries()) {
          const own = all.filter(
            ({ attributes }) => attributes['adjutant.run.id'] === `run_${index}`,
          );
          const [run] = own;
          expect(run?.name).toBe(`run n${index}`);
          expect(run?.attributes['adjutant.status']).toBe(status);
          expect(new Set(own.map((span) => span.spanContext().traceId))).toEqual(
            new Set([run?.spanContext().traceId]),
          );
          const invoked = own.filter(({ name }) => name.startsWith('invoke_'));
          const started = session.events.flatMap((event) =>
            event.type === 'invocation_start' ? event.invocationId : [],
          );
          expect(
            invoked
              .map(({ attributes }) => String(attributes['adjutant.invocation.id']))
              .toSorted(),
          ).toEqual(started.toSorted());
          for (const span of invoked)
            expect(span.parentSpanContext?.spanId).toBe(
              (expectedAbove(span, own) ?? run)?.spanContext().spanId,
            );
        }
      }),
      { numRuns: 60 },
    );
  },
);
