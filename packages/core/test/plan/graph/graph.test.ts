import { agent, type Event, memoryStore, runtime, sequence, step } from 'adjutant';
import { graph } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const app = () => runtime({ app: 'graphs' });
const gives = <Value>(name: string, value: Value) =>
  step({ name, execute: (ctx) => ctx.complete(value as never) });
const passes = (name: string) =>
  step({ name, execute: (ctx) => ctx.complete(ctx.input?.data ?? 'nothing') });
const fails = (name: string, message = `${name} failed`) =>
  step({ name, execute: (ctx) => ctx.fail(message) });

/** Paths of the executions in the order in which they began, without the run. */
function executions(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode !== 'root'
      ? [event.invocationId.split('/').slice(1).join('/')]
      : [],
  );
}

function decisions(events: readonly Event[], name: string): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'graph' && event.decision === name
      ? [event.data]
      : [],
  );
}

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
    expect((await app().run(limited)).output).toBe('instead');
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

describe('joins', () => {
  const slow = (name: string) =>
    agent({ name, model: scriptedModel([{ text: 'late', delayMs: 600_000 }]) });

  test('any begins with the first, and the work for it alone is cancelled', async () => {
    const race = graph({
      name: 'race',
      nodes: { quick: gives('quick', 1), slow: slow('slow'), first: passes('first') },
      edges: [
        { from: 'quick', to: 'first' },
        { from: 'slow', to: 'first' },
      ],
      start: ['quick', 'slow'],
      joins: { first: 'any' },
    });
    const { output, session } = await app().run(race);
    expect(output).toEqual({ quick: 1 });
    expect(decisions(session.events, 'join')).toEqual([
      { node: 'first', visit: 1, winners: ['quick'], cancelled: ['slow'] },
    ]);
  });

  test('work that leads elsewhere too goes on', async () => {
    const shared = graph({
      name: 'shared',
      nodes: {
        quick: gives('quick', 1),
        also: passes('also'),
        first: passes('first'),
        other: passes('other'),
      },
      edges: [
        { from: 'quick', to: 'first' },
        { from: 'also', to: 'first' },
        { from: 'also', to: 'other' },
      ],
      start: ['quick', 'also'],
      joins: { first: 'any' },
    });
    const { output } = await app().run(shared);
    expect(output).toMatchObject({ other: 'nothing' });
  });

  test('a number waits for so many, and fails when they cannot come any more', async () => {
    const votes = (third: boolean) =>
      graph({
        name: 'votes',
        nodes: { a: gives('a', 1), b: gives('b', 2), c: gives('c', 3), two: passes('two') },
        edges: [
          { from: 'a', to: 'two' },
          { from: 'b', to: 'two', when: () => third },
          { from: 'c', to: 'two', when: () => false },
        ],
        start: ['a', 'b', 'c'],
        joins: { two: 2 },
      });
    expect((await app().run(votes(true))).output).toEqual({ a: 1, b: 2 });
    expect((await app().run(votes(false))).error).toMatchObject({
      code: 'too_few_joined',
      data: { node: 'two', needed: 2, taken: 1 },
    });
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
  expect(output).toEqual(['one', 'three']);
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

test('approvals do not fill the limit of nodes that work', async () => {
  const asks = (name: string) =>
    step({ name, execute: async (ctx) => ctx.complete(await ctx.ask('q', `${name}?`)) });
  const crowded = graph({
    name: 'crowded',
    nodes: { a: asks('a'), b: asks('b'), c: gives('c', 'c') },
    edges: [],
    start: ['a', 'b', 'c'],
    limits: { parallel: 1 },
  });
  const host = runtime({ app: 'graphs', runnables: [crowded] });
  const { pendingCalls, session, status } = await host.run(crowded, { session: 's' });
  expect(status).toBe('yielded');
  expect(pendingCalls).toHaveLength(2);
  expect(executions(session.events)).toContain('c');
  for (const { requestId } of pendingCalls) await host.requests.answer(requestId, { input: 'yes' });
  expect((await host.resume('s')).output).toEqual({ a: 'yes', b: 'yes', c: 'c' });
});

describe('edge_code_edited_after_decision', () => {
  const asks = step({
    name: 'asks',
    execute: async (ctx) => ctx.complete(await ctx.ask('q', '?')),
  });
  const shaped = (when: boolean, more: boolean) =>
    graph({
      name: 'shaped',
      nodes: {
        a: gives('a', 1),
        left: asks,
        right: passes('right'),
        ...(more ? { extra: passes('extra') } : {}),
      },
      edges: [
        { from: 'a', to: 'left', when: () => when },
        { from: 'a', to: 'right', when: () => !when },
        ...(more ? ([{ from: 'a', to: 'extra' }] as never[]) : []),
      ],
      start: 'a',
    });

  test.each([
    ['another condition', false, false],
    ['another edge and node', true, true],
  ])('%s does not change a way already gone', async (_what, when, more) => {
    const store = memoryStore();
    const { pendingCalls } = await runtime({ app: 'g', store }).run(shaped(true, false), {
      session: 's',
    });
    const later = runtime({ app: 'g', store, runnables: [shaped(when, more)] });
    await later.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    const { output, session } = await later.resume('s');
    expect(output).toEqual({ left: 'yes' });
    expect(executions(session.events).filter((path) => !path.includes('/'))).toEqual(['a', 'left']);
  });
});

describe('refused definitions', () => {
  const [a, b, c] = [gives('a', 1), passes('b'), passes('c')];
  const valid = { name: 'g', nodes: { a, b }, edges: [{ from: 'a', to: 'b' }], start: 'a' };
  const edge = (more: object) => ({ edges: [{ from: 'a', to: 'b', ...more }] });
  test.each([
    ['no node', { nodes: {} }, '`nodes` must have at least one node'],
    ['what is no runnable', { nodes: { a: {} } }, 'the node "a" is not a runnable'],
    ['an id with a slash', { nodes: { 'a/b': a } }, 'the node "a/b" has no usable id'],
    ['an unknown node', edge({ to: 'x' }), '`edges[0].to` is "x", and there are: a, b'],
    ['an unknown start', { start: 'x' }, '`start` names the node "x"'],
    ['no start', { start: [] }, '`start` must be the id of a node'],
    ['one start twice', { start: ['a', 'a'] }, '`start` has "a" twice'],
    ['an unknown output', { output: 'x' }, '`output` names the node "x"'],
    ['a node without a way', { nodes: { a, b, c } }, 'nothing leads to the node "c"'],
    [
      'a cycle without a limit',
      {
        nodes: { a, b, c },
        edges: [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'c' },
          { from: 'c', to: 'b' },
        ],
      },
      'there is a cycle without a limit (b → c → b)',
    ],
    ['a limit without a cycle', edge({ max: 2 }), 'has a `max` and closes no cycle'],
    ['a start with a way to it', { start: ['a', 'b'] }, 'the start "b" is also led to by "a"'],
    [
      'two equal edges',
      { edges: [...valid.edges, ...valid.edges] },
      'two edges lead from "a" to "b"',
    ],
    ['two conditions', edge({ when: () => true, otherwise: true }), 'has `when` and `otherwise`'],
    ['value and error', edge({ when: () => true, error: true }), 'has `when` and `error`'],
    ['an error of no kind', edge({ error: 7 }), '`edges[0].error` must be true, a code'],
    ['an unknown member', edge({ if: 1 }), 'in `edges[0]` there is no option `if`'],
    ['a join of one way', { joins: { b: 'any' } }, 'to which only 1 edges lead'],
    [
      'a join of too many',
      {
        nodes: { a, b, c },
        edges: [
          { from: 'a', to: 'c' },
          { from: 'b', to: 'c' },
        ],
        start: ['a', 'b'],
        joins: { c: 3 },
      },
      "the join of \"c\" must be 'all', 'any' or a whole number from 1 to 2",
    ],
    ['a limit of none', { limits: { parallel: 0 } }, '`parallel` is a whole number from 1'],
    ['an unknown option', { node: {} }, 'no option `node`'],
  ])('%s', (_what, options, message) => {
    const define = () => graph({ ...valid, ...options } as never);
    expect(define).toThrow(
      expect.objectContaining({
        code: 'invalid_definition',
        message: expect.stringContaining(message),
      }),
    );
  });
});
