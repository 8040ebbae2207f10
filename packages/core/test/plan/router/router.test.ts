import { agent, memoryStore, runtime, sequence, step } from 'adjutant';
import { classifyIntent, englishIntents, router } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';

const says = (name: string, description = `Handles ${name}`) =>
  step({ name, description, execute: (ctx) => ctx.complete(`from ${name}`) });
const fails = (name: string) => step({ name, execute: (ctx) => ctx.fail(`${name} is down`) });
const billing = says('billing');
const support = says('support');
const app = () => runtime({ app: 'desk' });

function routesOf(result: { readonly session: { readonly events: readonly object[] } }) {
  return (result.session.events as { type: string; component?: string; data?: object }[]).flatMap(
    (event) => (event.type === 'decision' && event.component === 'router' ? [event.data] : []),
  );
}

const choosing = (answer: object) => scriptedModel([{ text: JSON.stringify(answer) }]);

describe('router by rules', () => {
  const desk = router({
    name: 'desk',
    routes: [billing, support],
    rules: [
      { to: 'billing', when: ['invoice', 'refund'] },
      { to: 'support', when: /broken/i, confidence: 0.9, reason: 'something is broken' },
      { to: 'support', when: ({ data }) => data === 7 && 'data is 7' },
      { to: 'support', when: ['maybe'], confidence: 0.5 },
    ],
    default: 'support',
  });

  test('the most confident rule chooses, and the decision says why', async () => {
    const result = await app().run(desk, 'My invoice for the broken thing');
    expect(result.output).toBe('from billing');
    expect(routesOf(result)).toEqual([
      { target: 'billing', confidence: 1, by: 'rule', attempt: 1, next: ['support'] },
    ]);
    expect(explain(result.session)).toContainEqual(
      expect.objectContaining({
        what: 'A rule of desk sent the work to "billing".',
        why: 'it says "invoice"',
        alternatives: ['support'],
      }),
    );
  });

  test('rules see data, and functions say their reason', async () => {
    const result = await app().run(desk, { data: 7 });
    expect(result.output).toBe('from support');
    expect(result.session.events).toContainEqual(
      expect.objectContaining({ component: 'router', reasoning: 'data is 7' }),
    );
  });

  test('a rule that gives a promise fails the router: it would always match', async () => {
    const late = router({
      name: 'late',
      routes: [billing],
      rules: [{ to: 'billing', when: (async () => false) as never }],
    });
    const { error, session } = await app().run(late, 'Hello');
    expect(error?.message).toContain('A rule must give true, false or a text at once, not');
    expect(session.events.filter(({ type }) => type === 'invocation_start')).toHaveLength(1);
  });

  test('below the confidence that counts the default is taken', async () => {
    const result = await app().run(desk, 'maybe');
    expect(routesOf(result)).toEqual([{ target: 'support', by: 'default', attempt: 1, next: [] }]);
  });

  test('intents choose', async () => {
    const intentOf = classifyIntent(englishIntents);
    const front = router({
      name: 'front',
      routes: [says('talk'), says('tools'), says('planner')],
      rules: [
        { to: 'planner', when: ({ message }) => intentOf(message).intent === 'complex' },
        { to: 'talk', when: ({ message }) => intentOf(message).intent === 'simple' },
      ],
      default: 'tools',
    });
    const outputs = ['Hello', 'Find it', 'Plan a trip to Paris'].map(
      async (message) => (await app().run(front, message)).output,
    );
    expect(await Promise.all(outputs)).toEqual(['from talk', 'from tools', 'from planner']);
  });
});

describe('router by a model', () => {
  const routes = [billing, support];

  test('the model is asked only when no rule is confident, and sees the descriptions', async () => {
    const model = choosing({ target: 'support', confidence: 0.8, reason: 'help', fallback: null });
    const desk = router({
      name: 'desk',
      routes,
      rules: [{ to: 'billing', when: ['invoice'] }],
      model,
      instructions: 'Be kind.',
    });
    expect((await app().run(desk, 'invoice')).output).toBe('from billing');
    expect(model.calls).toHaveLength(0);
    const result = await app().run(desk, 'Help me');
    expect(result.output).toBe('from support');
    const prompt = JSON.stringify(model.calls[0]?.prompt);
    for (const part of ['- billing: Handles billing', 'Be kind.', 'Help me'])
      expect(prompt).toContain(part);
    expect(routesOf(result)).toEqual([
      { target: 'support', confidence: 0.8, by: 'model', attempt: 1, next: [] },
    ]);
  });

  test.each([
    ['its own fallback', 'billing', undefined, 'billing', 'fallback'],
    ['the fallback of the router', null, 'billing', 'billing', 'fallback'],
    ['the default', null, undefined, 'support', 'default'],
  ])('a model that is not sure gets %s', async (_what, own, fallback, target, by) => {
    const model = choosing({ target: 'support', confidence: 0.69, reason: 'hm', fallback: own });
    const desk = router({
      name: 'desk',
      routes,
      model,
      default: 'support',
      ...(fallback === undefined ? {} : { fallback: fallback as 'billing' }),
    });
    const result = await app().run(desk, 'Hm');
    expect(result.output).toBe(`from ${target}`);
    expect(routesOf(result)[0]).toMatchObject({ target, by });
  });

  test('a model that names no route leaves the default', async () => {
    const wrong = { text: '{"target":"nobody","confidence":1,"reason":"x","fallback":null}' };
    const desk = router({
      name: 'desk',
      routes,
      model: scriptedModel([wrong, wrong, wrong]),
      default: 'support',
    });
    const result = await app().run(desk, 'Hm');
    expect(routesOf(result)[0]).toMatchObject({ target: 'support', by: 'default' });
  });

  test('the call of the model is not part of the conversation of the route', async () => {
    const answering = scriptedModel([{ text: 'done' }]);
    const desk = router({
      name: 'desk',
      routes: [agent({ name: 'helper', model: answering })],
      model: choosing({ target: 'helper', confidence: 1, reason: 'only one', fallback: null }),
    });
    expect((await app().run(desk, 'Help')).output).toBe('done');
    expect(JSON.stringify(answering.calls[0]?.prompt)).not.toContain('only one');
    expect(JSON.stringify(answering.calls[0]?.prompt)).toContain('Help');
  });
});

describe('routes that fail', () => {
  test('give control back, and leave no state behind', async () => {
    const half = step({
      name: 'half',
      execute: (ctx) => {
        ctx.state['half'] = true;
        return ctx.fail('half done');
      },
    });
    const whole = step({
      name: 'whole',
      execute: (ctx) => ctx.complete('half' in ctx.state ? 'dirty' : 'clean', 'whole'),
    });
    const desk = router({
      name: 'desk',
      routes: [half, whole],
      rules: [{ to: 'half', when: /./ }],
      fallback: 'whole',
    });
    const result = await app().run(desk, 'Go');
    expect(result).toMatchObject({ status: 'completed', output: 'clean' });
    expect(result.session.state).toEqual({ whole: 'clean' });
    expect(routesOf(result)).toEqual([
      { target: 'half', confidence: 1, by: 'rule', attempt: 1, next: ['whole'] },
      {
        target: 'whole',
        by: 'failure',
        attempt: 2,
        next: [],
        after: 'half',
        code: 'step_failed',
      },
    ]);
  });

  test('all of them: routing_exhausted names each failure', async () => {
    const desk = router({
      name: 'desk',
      routes: [fails('one'), fails('two'), support],
      rules: [{ to: 'one', when: /./ }],
      default: 'two',
    });
    const result = await app().run(desk, 'Go');
    expect(result).toMatchObject({
      status: 'error',
      error: {
        code: 'routing_exhausted',
        data: { failures: [{ route: 'one', code: 'step_failed' }, { route: 'two' }] },
      },
    });
    expect(result.error?.message).toContain('one: one is down; two: two is down');
  });

  test('nothing chosen at all is routing_exhausted too', async () => {
    const desk = router({
      name: 'desk',
      routes: [support],
      rules: [{ to: 'support', when: ['x'] }],
    });
    expect((await app().run(desk, 'y')).error).toMatchObject({
      code: 'routing_exhausted',
      data: { failures: [] },
    });
  });

  test('an agent at a limit makes room for another, and as the last its answer stands', async () => {
    const tired = (name: string) =>
      agent({
        name,
        model: scriptedModel([{ text: 'first' }, { text: `${name} at its limit` }]),
        goal: { attempts: 1, check: () => 'no' },
      });
    const desk = router({
      name: 'desk',
      routes: [tired('one'), tired('two')],
      rules: [{ to: 'one', when: /./ }],
      default: 'two',
    });
    const result = await app().run(desk, 'Go');
    expect(result).toMatchObject({
      status: 'completed',
      output: 'two at its limit',
      stopReason: 'goal_unmet',
    });
  });

  test('a route that takes too long is left', async () => {
    const slow = agent({
      name: 'slow',
      model: scriptedModel([{ text: 'late', delayMs: 600_000 }]),
    });
    const desk = router({
      name: 'desk',
      routes: [slow, support],
      rules: [{ to: 'slow', when: /./ }],
      fallback: 'support',
      routeTimeoutMs: 1,
    });
    const result = await app().run(desk, 'Go');
    expect(result.output).toBe('from support');
    expect(routesOf(result)[1]).toMatchObject({ after: 'slow', code: 'timeout' });
  });
});

test('a router nests, and data reaches its route', async () => {
  const takes = step({ name: 'takes', execute: (ctx) => ctx.complete(ctx.input?.data ?? null) });
  const inner = router({
    name: 'inner',
    routes: [takes],
    rules: [{ to: 'takes', when: () => true }],
  });
  const outer = sequence({
    name: 'outer',
    runnables: [step({ name: 'give', execute: (ctx) => ctx.complete({ n: 1 }) }), inner],
  });
  expect((await app().run(outer, 'Go')).output).toEqual({ n: 1 });
});

test('a rule that was edited does not change a way already chosen', async () => {
  const store = memoryStore();
  const asks = (name: string) =>
    step({ name, execute: async (ctx) => ctx.complete(`${name}: ${await ctx.ask('q', 'Well?')}`) });
  const desk = (to: 'a' | 'b') =>
    router({ name: 'desk', routes: [asks('a'), asks('b')], rules: [{ to, when: /./ }] });
  const before = runtime({ app: 'desk', store, recover: 'manual' });
  const { pendingCalls } = await before.run(desk('a'), { input: 'Go', session: 's' });
  const after = runtime({ app: 'desk', store, runnables: [desk('b')], recover: 'manual' });
  await after.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'yes' });
  expect((await after.resume('s')).output).toBe('a: yes');
});

describe('refused definitions', () => {
  const valid = { name: 'desk', routes: [billing], rules: [{ to: 'billing', when: ['x'] }] };
  test.each([
    ['no routes', { routes: [] }, '`routes` must have at least one part'],
    ['what is no runnable', { routes: [{}] }, '`routes[0]` is not an agent'],
    ['one name twice', { routes: [billing, billing] }, 'two `routes` have the name "billing"'],
    ['an unknown target', { rules: [{ to: 'x', when: ['x'] }] }, 'names the route "x"'],
    ['an unknown fallback', { fallback: 'x' }, '`fallback` names the route "x"'],
    ['an unknown default', { default: 'x' }, '`default` names the route "x"'],
    ['a rule without a test', { rules: [{ to: 'billing' }] }, '`rules[0]` has no `when`'],
    ['a wrong confidence', { minConfidence: 1.5 }, '`minConfidence` must be a number from 0 to 1'],
    ['nothing that chooses', { rules: [] }, 'nothing would choose'],
    ['instructions for nobody', { instructions: 'x' }, '`instructions` are for a `model`'],
    ['an unknown option', { route: [] }, 'no option `route`'],
  ])('%s', (_what, options, message) => {
    expect(() => router({ ...valid, ...options } as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_definition',
        message: expect.stringContaining(message),
      }),
    );
  });
});
