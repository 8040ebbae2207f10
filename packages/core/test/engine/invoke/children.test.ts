import { agent, type Event, parallel, type Runnable, run, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hanging, writing } from './branches.ts';

const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );

describe('children', () => {
  test(
    'a step that fails stops the children that it has started, and they end ' + 'before it',
    async () => {
      const helper = hanging('helper');
      const result = await run(
        step({
          name: 's',
          execute: async (ctx) => {
            ctx.spawn(helper);
            void ctx.call(hanging('called'));
            await Promise.resolve();
            throw new Error('enough');
          },
        }),
        { runId: 'run' },
      );
      expect(result).toMatchObject({ status: 'error', error: { message: 'enough' } });
      expect(ends(result.session.events)).toEqual([
        'run/helper cancelled',
        'run/called cancelled',
        'run error',
      ]);
      expect(result.session.ledger.lease.claim).toBeUndefined();
    },
  );

  test('a step does not end before a call that it did not wait for', async () => {
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        return ctx.complete('late');
      },
    });
    const result = await run(step({ name: 's', execute: (ctx) => void ctx.call(slow) }), {
      runId: 'run',
    });
    expect(ends(result.session.events)).toEqual(['run/slow completed', 'run completed']);
  });

  test('an agent that fails stops what its tools have spawned', async () => {
    const helper = hanging('helper');
    const start = tool({
      name: 'start',
      description: 'Starts',
      schema: z.object({}),
      execute: (ctx) => ctx.spawn(helper).invocationId,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'start' }] },
      { error: Object.assign(new Error('no such model'), { statusCode: 404 }) },
    ]);
    const result = await run(agent({ name: 'boss', model, tools: [start] }), {
      input: 'Go',
      runId: 'run',
    });
    expect(result.status).toBe('error');
    expect(ends(result.session.events)).toEqual(['run/r1.0/helper cancelled', 'run error']);
  });

  test(
    'what a child wrote before it handed over is seen by its caller, in and ' + 'after a branch',
    async () => {
      const target = writing('target', { fromTarget: 1 });
      const source = step({
        name: 'source',
        execute: (ctx) => {
          ctx.state['fromSource'] = 1;
          return target;
        },
      });
      const near = writing('source2', { wrong: 1 });
      const caller = step({
        name: 'caller',
        execute: async (ctx) => {
          const other = ctx.spawn(near);
          await ctx.call(source);
          const seen = [ctx.state['fromSource'], ctx.state['fromTarget'], ctx.state['wrong']].map(
            (value) => value ?? null,
          );
          await other.wait();
          return ctx.complete([...seen, ctx.state['wrong']] as number[]);
        },
      });
      expect(await run(caller)).toMatchObject({ output: [1, 1, null, 1] });
      expect(await run(parallel({ name: 'p', runnables: [caller] }))).toMatchObject({
        output: { caller: [1, 1, null, 1] },
      });
    },
  );

  test('a tool reads what its child wrote over its own write', async () => {
    const child = writing('child', { n: 5 });
    const seen: unknown[] = [];
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute: async (ctx) => {
        ctx.state['n'] = 1;
        await ctx.call(child);
        seen.push(ctx.state['n']);
        return 'ok';
      },
    });
    const result = await run(
      agent({
        name: 'a',
        model: scriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'done' }]),
        tools: [work],
      }),
      'Go',
    );
    expect(seen).toEqual([5]);
    expect({ ...result.session.state }).toEqual({ n: 5 });
  });

  test(
    'a key that names two children is refused, and so are keys with ' + 'marks of paths',
    async () => {
      const child = writing('child', {});
      const twice = step({
        name: 's',
        execute: async (ctx) => {
          await ctx.call(child, { key: 'k' });
          await ctx.call(child, { key: 'k' });
        },
      });
      expect(await run(twice)).toMatchObject({ status: 'error', error: { code: 'invalid_key' } });
      for (const key of ['', 'a/b', 'a#b', 'a~b', 'a>b']) {
        expect(
          await run(
            step({ name: 's', execute: async (ctx) => void (await ctx.call(child, { key })) }),
          ),
        ).toMatchObject({
          error: { code: 'invalid_key' },
        });
      }
    },
  );

  test(
    'the second call of a child is not taken for one whose name looks ' + 'like a number',
    async () => {
      const twice = step({
        name: 's',
        execute: async (ctx) => {
          for (const child of [writing('w', {}), writing('w', {}), writing('w.2', {})])
            await ctx.call(child);
        },
      });
      const result = await run(twice, { runId: 'run' });
      expect(result.status).toBe('completed');
      expect(ends(result.session.events)).toEqual([
        'run/w completed',
        'run/w#2 completed',
        'run/w.2 completed',
        'run completed',
      ]);
    },
  );

  test('a context refuses to be used after its invocation has ended', async () => {
    let kept: { now(): number; call(runnable: Runnable): Promise<unknown> } | undefined;
    await run(
      step({
        name: 's',
        execute: (ctx) => {
          kept = ctx;
        },
      }),
    );
    expect(() => kept?.now()).toThrow(expect.objectContaining({ code: 'invocation_ended' }));
    await expect(kept?.call(writing('x', {}))).rejects.toMatchObject({ code: 'invocation_ended' });
  });
});

describe('hand-over', () => {
  const passing = (name: string, target: () => Runnable) =>
    agent({
      name,
      model: scriptedModel([{ toolCalls: [{ name: 'pass' }] }, { text: `${name} stays` }]),
      tools: [
        tool({ name: 'pass', description: 'Passes on', schema: z.object({}), execute: target }),
      ],
    });

  test('the slot has the outcome of the last one, from a tool and from a step', async () => {
    const target = agent({ name: 'target', model: scriptedModel([{ text: 'mine' }]) });
    const result = await run(
      passing('source', () => target),
      { input: 'Go', runId: 'run' },
    );
    expect(result).toMatchObject({ status: 'completed', output: 'mine' });
    expect(ends(result.session.events)).toEqual(['run transferred', 'run>target completed']);
    expect(
      await run(step({ name: 's', execute: (ctx) => ctx.transfer(writing('t', {}, 'from t')) })),
    ).toMatchObject({ output: 'from t' });
  });

  test('a circle within one turn is refused, and the model is told', async () => {
    const a: Runnable = passing('a', () => passing('b', () => a));
    const result = await run(a, 'Go');
    expect(result).toMatchObject({ status: 'completed', output: 'b stays' });
    const refusal = result.session.events.find(
      (event) => event.type === 'tool_result' && event.result.errorType === 'handoff_refused',
    );
    expect(refusal).toMatchObject({
      settled: true,
      result: { status: 'error_blocked', content: expect.stringContaining('a → b → a') },
    });
  });

  test('the sixth hand-over is refused', async () => {
    const chain = (n: number): Runnable => passing(`agent${n}`, () => chain(n + 1));
    const result = await run(chain(0), 'Go');
    expect(result).toMatchObject({ status: 'completed', output: 'agent5 stays' });
    const deep = (n: number): Runnable =>
      step({ name: `deep${n}`, execute: async (ctx) => void (await ctx.call(deep(n + 1))) });
    const nested = await run(deep(0));
    expect(nested.session.events.filter((event) => event.type === 'invocation_start')).toHaveLength(
      6,
    );
    expect(nested.session.events.find((event) => event.type === 'invocation_end')).toMatchObject({
      error: { code: 'handoff_refused' },
    });
  });

  test('a spawned child that hands over is open until its slot has ended', async () => {
    const target = step({
      name: 'target',
      execute: async (ctx) => {
        for (let turn = 0; turn < 20; turn++)
          await new Promise<void>((resolve) => setImmediate(resolve));
        return ctx.complete('found it');
      },
    });
    const helper = step({ name: 'helper', execute: (ctx) => ctx.transfer(target) });
    const start = tool({
      name: 'start',
      description: 'Starts',
      schema: z.object({}),
      execute: (ctx) => ctx.spawn(helper).invocationId,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'start' }] },
      { text: 'waiting' },
      { text: 'heard' },
    ]);
    const result = await run(agent({ name: 'boss', model, tools: [start] }), {
      input: 'Go',
      runId: 'run',
    });
    expect(result).toMatchObject({ status: 'completed', output: 'heard' });
    expect(ends(result.session.events)).toEqual([
      'run/r1.0/helper transferred',
      'run/r1.0/helper>target completed',
      'run completed',
    ]);
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('found it');
    expect(JSON.stringify(model.calls[2]?.prompt)).not.toContain('ended as transferred');
  });
});
