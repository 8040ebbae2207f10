import { agent, sequence, step } from 'adjutant';
import { graph } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { app, decisions, executions, fails, gives, passes } from './nodes.ts';

describe('ways', () => {
  test('an edge is taken by the value of its source, and the choice is explained', async () => {
    const bill = graph({
      name: 'bill',
      nodes: { load: gives('load', { cents: 900 }), pay: passes('pay'), ask: passes('ask') },
      edges: [
        { from: 'load', to: 'pay', when: ({ cents }) => cents < 1_000, label: 'small' },
        { from: 'load', to: 'ask', otherwise: true },
      ],
      start: 'load',
    });
    const { output, session } = await app().run(bill);
    expect(output).toEqual({ pay: { cents: 900 } });
    expect(executions(session.events)).toEqual(['load', 'pay']);
    expect(explain(session).map(({ what }) => what)).toEqual([
      'The graph bill began.',
      'After "load" "pay" was next.',
    ]);
  });

  test('work without conditions records no choice', async () => {
    const line = graph({
      name: 'line',
      nodes: { a: gives('a', 1), b: passes('b') },
      edges: [{ from: 'a', to: 'b' }],
      start: 'a',
    });
    const { output, session } = await app().run(line);
    expect(output).toBe(1);
    expect(decisions(session.events, 'edges')).toEqual([]);
  });

  test('a join waits for every way that can still come, and gets the outputs by source', async () => {
    const diamond = graph({
      name: 'diamond',
      nodes: {
        a: gives('a', 3),
        left: gives('left', 'l'),
        right: gives('right', 'r'),
        never: gives('never', 'n'),
        end: passes('end'),
      },
      edges: [
        { from: 'a', to: 'left' },
        { from: 'a', to: 'right', when: (n) => n > 2 },
        { from: 'a', to: 'never', when: (n) => n > 3 },
        { from: 'left', to: 'end' },
        { from: 'right', to: 'end', data: (text) => `${text}!` },
        { from: 'never', to: 'end' },
      ],
      start: 'a',
    });
    expect((await app().run(diamond)).output).toEqual({ left: 'l', right: 'r!' });
  });

  test('several starts, and no way that leads on, end the graph', async () => {
    const stops = graph({
      name: 'stops',
      nodes: { a: gives('a', 1), b: gives('b', 2), c: passes('c') },
      edges: [{ from: 'a', to: 'c', when: () => false }],
      start: ['a', 'b'],
    });
    expect((await app().run(stops)).output).toEqual({ b: 2 });
  });
});

describe('errors', () => {
  const handled = (
    error: string | readonly string[] | true | ((of: { code: string }) => boolean),
  ) =>
    graph({
      name: 'handled',
      nodes: { book: fails('book'), repair: passes('repair'), done: passes('done') },
      edges: [
        { from: 'book', to: 'done' },
        { from: 'book', to: 'repair', error },
        { from: 'repair', to: 'done' },
      ],
      start: 'book',
    });

  test.each([
    ['any', true],
    ['its code', 'step_failed'],
    ['one of several', ['timeout', 'step_failed']],
    ['its name', 'StepError'],
    ['a function', ({ code }: { code: string }) => code.startsWith('step_')],
  ] as const)('an edge for %s error is taken, and gets the error', async (_what, error) => {
    const result = await app().run(handled(error));
    expect(result.status).toBe('completed');
    expect(result.output).toEqual({
      repair: { node: 'book', error: { code: 'step_failed', message: 'book failed' } },
    });
  });

  test('a failure without an edge fails the graph and cancels the others', async () => {
    const slow = agent({
      name: 'slow',
      model: scriptedModel([{ text: 'late', delayMs: 600_000 }]),
    });
    const broken = graph({
      name: 'broken',
      nodes: { book: fails('book'), slow, after: passes('after'), never: passes('never') },
      edges: [
        { from: 'book', to: 'after', error: 'timeout' },
        { from: 'slow', to: 'never' },
      ],
      start: ['book', 'slow'],
    });
    const { status, error, session } = await app().run(broken);
    expect({ status, error }).toMatchObject({ status: 'error', error: { code: 'step_failed' } });
    expect(executions(session.events)).toEqual(['book', 'slow']);
    expect(session.events).toContainEqual(
      expect.objectContaining({ type: 'invocation_end', status: 'cancelled' }),
    );
  });

  test('a node that takes too long has failed with timeout', async () => {
    const slow = agent({
      name: 'slow',
      model: scriptedModel([{ text: 'late', delayMs: 600_000 }]),
    });
    const limited = graph({
      name: 'limited',
      nodes: { slow, quick: gives('quick', 'instead') },
      edges: [{ from: 'slow', to: 'quick', error: 'timeout' }],
      start: 'slow',
      nodeTimeoutMs: 1,
    });
    expect((await app().run(limited)).output).toEqual({ quick: 'instead' });
  });

  test('a condition that throws fails the graph with edge_failed', async () => {
    const odd = graph({
      name: 'odd',
      nodes: { a: gives('a', 1), b: passes('b') },
      edges: [
        {
          from: 'a',
          to: 'b',
          when: () => {
            throw new Error('no idea');
          },
        },
      ],
      start: 'a',
    });
    expect((await app().run(odd)).error).toMatchObject({
      code: 'edge_failed',
      message: 'The edge from "a" to "b" could not be evaluated: it threw: no idea',
    });
  });

  test('a condition that gives a promise fails the graph: it would always hold', async () => {
    const late = graph({
      name: 'late',
      nodes: { a: gives('a', 1), b: passes('b') },
      edges: [{ from: 'a', to: 'b', when: (async () => false) as never }],
      start: 'a',
    });
    const { error, session } = await app().run(late);
    expect(error).toMatchObject({
      code: 'edge_failed',
      message: expect.stringContaining('must give true or false at once, not'),
    });
    expect(session.events.filter(({ type }) => type === 'invocation_start')).toHaveLength(2);
  });

  test('data that does not fit its target fails the graph before the target begins', async () => {
    const strict = step({
      name: 'strict',
      input: z.object({ n: z.number() }),
      execute: () => undefined,
    });
    const wrong = graph({
      name: 'wrong',
      nodes: { a: gives('a', 'text'), strict },
      edges: [{ from: 'a', to: 'strict' }],
      start: 'a',
    });
    const { error, session } = await app().run(wrong);
    expect(error?.code).toBe('invalid_input');
    expect(executions(session.events)).toEqual(['a']);
  });
});

describe('cycles', () => {
  const counting = (until: number) =>
    step({
      name: 'check',
      execute: (ctx) => {
        const n = Number(ctx.state['n'] ?? 0) + 1;
        ctx.state.update({ n });
        return ctx.complete({ n, good: n >= until });
      },
    });
  const loops = (until: number, otherwise: boolean) =>
    graph({
      name: 'loops',
      nodes: {
        check: counting(until),
        fix: passes('fix'),
        done: passes('done'),
        give: passes('give'),
      },
      edges: [
        { from: 'check', to: 'done', when: ({ good }) => good },
        { from: 'check', to: 'fix', when: ({ good }) => !good },
        { from: 'fix', to: 'check', max: 2 },
        ...(otherwise ? ([{ from: 'fix', to: 'give', otherwise: true }] as const) : []),
        ...(otherwise ? [] : ([{ from: 'check', to: 'give', error: true }] as const)),
      ],
      start: 'check',
    });

  test('goes round until its condition holds; executions have numbers', async () => {
    const { output, session } = await app().run(loops(3, true));
    expect(executions(session.events)).toEqual([
      'check',
      'fix',
      'check#2',
      'fix#2',
      'check#3',
      'done',
    ]);
    expect(output).toEqual({ done: { n: 3, good: true } });
    expect(session.state).toEqual({ n: 3 });
  });

  test('at its limit an edge with `otherwise` is taken', async () => {
    expect((await app().run(loops(9, true))).output).toEqual({ give: { n: 3, good: false } });
  });

  test('at its limit without another way the graph fails with cycle_limit', async () => {
    expect((await app().run(loops(9, false))).error).toMatchObject({
      code: 'cycle_limit',
      data: { node: 'fix', to: 'check' },
    });
  });

  test('a node may lead back to itself', async () => {
    const own = graph({
      name: 'own',
      nodes: { check: counting(3) },
      edges: [{ from: 'check', to: 'check', max: 5, when: ({ good }) => !good }],
      start: 'check',
      output: 'check',
    });
    expect((await app().run(own)).output).toEqual({ n: 3, good: true });
  });
});

test('nodes see the state that nodes before them wrote, and a failed one leaves none', async () => {
  const writes = (name: string, fail: boolean) =>
    step({
      name,
      execute: (ctx) => {
        ctx.state.update({ [name]: true });
        return fail ? ctx.fail('no') : ctx.complete(Object.keys(ctx.state).toSorted());
      },
    });
  const states = graph({
    name: 'states',
    nodes: { one: writes('one', false), two: writes('two', true), three: writes('three', false) },
    edges: [
      { from: 'one', to: 'two' },
      { from: 'two', to: 'three', error: true },
    ],
    start: 'one',
  });
  const { output, session } = await app().run(states);
  expect(output).toEqual({ three: ['one', 'three'] });
  expect(session.state).toEqual({ one: true, three: true });
});

test('an agent gets the output of the node before it, and the message of the user', async () => {
  const model = scriptedModel([{ text: 'A fine city.' }]);
  const tells = graph({
    name: 'tells',
    nodes: {
      facts: gives('facts', { people: 14_000_000 }),
      writer: agent({ name: 'writer', model }),
    },
    edges: [{ from: 'facts', to: 'writer' }],
    start: 'facts',
  });
  expect((await app().run(tells, 'Tell me of Tokyo')).output).toBe('A fine city.');
  const prompt = JSON.stringify(model.calls[0]?.prompt);
  expect(prompt).toContain('Tell me of Tokyo');
  expect(prompt).toContain('14000000');
});

test('a graph nests in a sequence and in a graph', async () => {
  const inner = graph({ name: 'inner', nodes: { x: passes('x') }, edges: [], start: 'x' });
  const outer = graph({
    name: 'outer',
    nodes: { inner, y: passes('y') },
    edges: [{ from: 'inner', to: 'y' }],
    start: 'inner',
  });
  const all = sequence({ name: 'all', runnables: [gives('give', 7), outer] });
  expect((await app().run(all)).output).toBe(7);
});

test('the same runnable may be several nodes', async () => {
  const same = passes('same');
  const twice = graph({
    name: 'twice',
    nodes: { one: same, two: same },
    edges: [{ from: 'one', to: 'two' }],
    start: 'one',
  });
  const { output, session } = await app().run(twice, { data: 1 });
  expect(output).toBe(1);
  expect(executions(session.events)).toEqual(['one', 'two']);
});
