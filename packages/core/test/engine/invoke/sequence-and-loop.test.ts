import { type Event, loop, run, sequence, step } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { ends, failing, writing } from './branches.ts';

const typesOf = (events: readonly Event[]) =>
  events.map((event) => `${event.type} ${event.invocationId ?? ''}`.trim());

describe('sequence and loop', () => {
  test(
    'the output is that of the last part that had one, and a failure ends ' + 'the sequence',
    async () => {
      const result = await run(
        sequence({
          name: 's',
          runnables: [
            writing('a', {}, 'from a'),
            step({ name: 'quiet', execute: () => undefined }),
          ],
        }),
      );
      expect(result.output).toBe('from a');
      const failed = await run(
        sequence({ name: 's', runnables: [failing('bad'), writing('never', { never: 1 })] }),
        { runId: 'run' },
      );
      expect(failed).toMatchObject({
        status: 'error',
        error: { code: 'step_failed', message: 'bad failed' },
      });
      expect(typesOf(failed.session.events)).not.toContain('invocation_start run/never');
    },
  );

  test('a loop asks before every iteration, and ends as completed at maxIterations', async () => {
    const counting = step({
      name: 'count',
      execute: (ctx) => {
        ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
        return ctx.complete(ctx.state['n'] as number);
      },
    });
    const asked: unknown[] = [];
    const result = await run(
      loop({
        name: 'l',
        runnable: counting,
        while: ({ iteration, output, state }) => {
          asked.push([iteration, output, state['n']]);
          return iteration < 2;
        },
      }),
      { runId: 'run' },
    );
    expect(asked).toEqual([
      [0, undefined, undefined],
      [1, 1, 1],
      [2, 2, 2],
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 2 });
    expect(ends(result.session.events)).toEqual([
      'run/#1 completed',
      'run/#2 completed',
      'run completed',
    ]);
    expect(await run(loop({ name: 'l', runnable: counting, maxIterations: 3 }))).toMatchObject({
      status: 'completed',
      output: 3,
    });
    expect(await run(loop({ name: 'l', runnable: counting, maxIterations: 0 }))).toMatchObject({
      status: 'completed',
      output: undefined,
    });
  });
});
