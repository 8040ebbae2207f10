import {
  type AgentOptions,
  type AnySession,
  agent,
  type Event,
  run,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

test('a hand-over with a message records it as the reason, one without has none', async () => {
  const target = step({ name: 'target', execute: (ctx) => ctx.complete('ok') });
  const events = async (message?: string) => {
    const { session } = await run(
      step({ name: 'desk', execute: (ctx) => ctx.transfer(target, message) }),
    );
    return session.events.filter((event) => event.type === 'handoff');
  };
  expect(await events('They want a refund')).toMatchObject([
    { from: 'desk', to: 'target', reason: 'They want a refund' },
  ]);
  expect((await events())[0]).not.toHaveProperty('reason');
});

const end: ScriptedResponse = { text: 'Done.' };
const to = (name: string): ScriptedResponse => ({ toolCalls: [{ name: `transfer_to_${name}` }] });
const handoffs = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'handoff' ? [`${event.from} → ${event.to}`] : []));
const refusals = ({ events }: { readonly events: readonly Event[] }) =>
  events.flatMap((event) =>
    event.type === 'tool_result' && event.result.errorType === 'handoff_refused'
      ? [String(event.result.content)]
      : [],
  );

/** Two agents that hand over to each other. `confirm` is a tool of the second that waits. */
function desk(
  answers: { readonly a: ScriptedResponse[]; readonly b: ScriptedResponse[] },
  back = false,
) {
  const confirm = tool({
    name: 'confirm',
    description: 'Waits for an answer',
    schema: z.object({}),
    yieldSchema: z.string(),
  });
  const a = agent({
    name: 'a',
    model: scriptedModel(answers.a),
    handoffs: [{ to: () => b, back }],
  });
  const b = agent({
    name: 'b',
    model: scriptedModel(answers.b),
    tools: [confirm],
    handoffs: [{ to: () => a, back }],
  });
  return { a, b, app: runtime({ app: 'desk', runnables: [a] }) };
}

describe('a handoff back', () => {
  test('is refused within one turn', async () => {
    const { a, app } = desk({ a: [to('b')], b: [to('a'), { text: 'Then I do it.' }] });
    const { output, session } = await app.run(a, 'Hi');
    expect(output).toBe('Then I do it.');
    expect(refusals(session)).toEqual([
      '"a" has already handed this conversation on in the same turn (a → b → a); go on with it yourself',
    ]);
  });

  test('is allowed after an answer of a person', async () => {
    const { a, app } = desk({
      a: [to('b'), { text: 'Back at a.' }],
      b: [{ toolCalls: [{ name: 'confirm' }] }, to('a')],
    });
    let result = await app.run(a, 'Hi');
    expect(result.status).toBe('yielded');
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', {
      input: 'yes',
      by: 'user:ann',
    });
    result = await app.resume(a, result.session);
    expect(result).toMatchObject({ status: 'completed', output: 'Back at a.' });
    expect(handoffs(result.session.events)).toEqual(['a → b', 'b → a']);
  });

  test('is allowed after a message that came while the agent worked', async () => {
    let session: AnySession | undefined;
    const nudge = tool({
      name: 'nudge',
      description: 'Lets the user say something',
      schema: z.object({}),
      execute: () => app.send(session?.id ?? '', 'I want somebody else'),
    });
    const a = agent({
      name: 'a',
      model: scriptedModel([to('b'), { text: 'Back at a.' }]),
      handoffs: [() => b],
    });
    const b = agent({
      name: 'b',
      model: scriptedModel([{ toolCalls: [{ name: 'nudge' }] }, to('a')]),
      tools: [nudge],
      handoffs: [() => a],
    });
    const app = runtime({ app: 'desk', runnables: [a] });
    session = await app.sessions.open({ id: 's' });
    const result = await app.run(a, { session, input: 'Hi' });
    expect(refusals(result.session)).toEqual([]);
    expect(result.output).toBe('Back at a.');
  });

  test('is refused again within the turn that the answer began', async () => {
    const { a, app } = desk({
      a: [to('b'), to('b'), { text: 'I keep it.' }],
      b: [{ toolCalls: [{ name: 'confirm' }] }, to('a')],
    });
    let result = await app.run(a, 'Hi');
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    result = await app.resume(a, result.session);
    expect(result.output).toBe('I keep it.');
    expect(refusals(result.session)).toEqual([
      '"b" has already handed this conversation on in the same turn (b → a → b); go on with it yourself',
    ]);
  });

  test('is not allowed by an answer to a request of another branch', async () => {
    const other = tool({
      name: 'other',
      description: 'Waits',
      schema: z.object({}),
      yieldSchema: z.string(),
    });
    const asker = agent({
      name: 'asker',
      model: scriptedModel([{ toolCalls: [{ name: 'other' }] }, { text: 'asked' }]),
      tools: [other],
    });
    const { a } = desk({ a: [to('b')], b: [to('a'), { text: 'Then I do it.' }] });
    const app = runtime({ app: 'desk' });
    const job = sequence({ name: 'job', runnables: [asker, a] });
    let result = await app.run(job, 'Hi');
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    result = await app.resume(job, result.session);
    expect(refusals(result.session)).toHaveLength(1);
  });

  test('is limited by the depth all the same', async () => {
    const { a, app } = desk({
      a: [to('b'), { text: 'No further.' }],
      b: [{ toolCalls: [{ name: 'confirm' }] }, to('a'), { text: 'I stay.' }],
    });
    let result = await app.run(a, { input: 'Hi', limits: { depth: 1 } });
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    result = await app.resume(a, result.session, { limits: { depth: 1 } });
    expect(result.output).toBe('I stay.');
    expect(refusals(result.session)).toEqual([
      'the handoff to "a" would be number 2, and 1 are allowed',
    ]);
  });
});

describe('`back: true`', () => {
  test('allows it once for each pair and turn', async () => {
    const { a, app } = desk({ a: [to('b'), to('b'), { text: 'Done.' }], b: [to('a')] }, true);
    const { output, session } = await app.run(a, 'Hi');
    expect(output).toBe('Done.');
    expect(handoffs(session.events)).toEqual(['a → b', 'b → a']);
    expect(refusals(session)).toEqual([
      '"b" has already handed this conversation on in the same turn (a → b → a → b); go on with it yourself',
    ]);
  });

  test('allows it in each turn anew', async () => {
    const { a, app } = desk(
      { a: [to('b'), to('b')], b: [{ toolCalls: [{ name: 'confirm' }] }, to('a'), to('a'), end] },
      true,
    );
    let result = await app.run(a, 'Hi');
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    result = await app.resume(a, result.session);
    expect(result.output).toBe('Done.');
    expect(handoffs(result.session.events)).toEqual(['a → b', 'b → a', 'a → b']);
    expect(refusals(result.session)).toEqual([
      '"a" has already handed this conversation on in the same turn (b → a → b → a); go on with it yourself',
    ]);
  });

  test('does not let an agent hand over to itself', async () => {
    const self = agent({
      name: 'self',
      model: scriptedModel([to('self'), { text: 'It is me.' }]),
      handoffs: [{ to: () => self, back: true }],
    });
    const { output, session } = await run(self, 'Hi');
    expect(output).toBe('It is me.');
    expect(refusals(session)).toHaveLength(1);
  });
});

describe('the option `handoffs`', () => {
  const model = scriptedModel([{ text: 'fine' }]);
  const other = agent({ name: 'other desk', description: 'Knows it.', model });

  test('makes tools with names that models can call', () => {
    const { tools } = agent({ name: 'a', model, handoffs: [other] });
    expect(tools).toMatchObject([
      {
        name: 'transfer_to_other_desk',
        description: 'Hands the conversation over to "other desk". Knows it.',
        inputSchema: { type: 'object', properties: {} },
      },
    ]);
    const named = agent({
      name: 'a',
      model,
      handoffs: [{ to: other, name: 'escalate', description: 'Escalates' }],
    });
    expect(named.tools).toMatchObject([{ name: 'escalate', description: 'Escalates' }]);
  });

  test('is kept by a definition that is made of another one', async () => {
    const first = agent({ name: 'first', model: scriptedModel([]), handoffs: [() => other] });
    const again = agent({ ...first, model: scriptedModel([to('other_desk')]) } as AgentOptions);
    expect(again.tools).toHaveLength(1);
    expect((await run(again, 'Hi')).output).toBe('fine');
  });

  test('refuses two tools of one name', () => {
    const name = 'transfer_to_other_desk';
    const same = tool({ name, description: 'x', schema: z.object({}), execute: () => 1 });
    expect(() => agent({ name: 'a', model, tools: [same], handoffs: [other] })).toThrow(
      `The agent "a" cannot be defined: it has two tools named "${name}".`,
    );
    const lazy = agent({ name: 'a', model, tools: [same], handoffs: [() => other] });
    expect(() => lazy.tools).toThrow(`it has two tools named "${name}"`);
  });

  test('refuses what is no target, and options that do not exist', () => {
    const define = (handoff: unknown) => () =>
      agent({ name: 'a', model, handoffs: [handoff] as never });
    expect(define(3)).toThrow(
      '`handoffs` must be a list of runnables, functions that give one, or ' +
        '{ to, name?, description?, back? }; `[0]` is 3',
    );
    expect(define({ to: 3 })).toThrow('of `[0]` `to` must be an agent, step');
    expect(define({ to: other, bak: true })).toThrow('there is no option `bak`');
    expect(define({ to: other, name: 'to billing' })).toThrow(
      'of `[0]` `name` must be 1 to 64 letters, digits, "_" or "-"',
    );
  });

  test('tells when a function gives its target too early, or gives none', () => {
    const early = agent({ name: 'early', model, handoffs: [() => late] });
    expect(() => runtime({ app: 'desk', runnables: [early] })).toThrow(
      new RegExp(
        'The agent "early" cannot be defined: the function of `handoffs\\[0\\]` failed ' +
          '\\(.*\\): define its target before the runtime is made',
      ),
    );
    const late = agent({ name: 'late', model });
    expect(early.tools).toHaveLength(1);
    const wrong = agent({ name: 'wrong', model, handoffs: [() => 3] });
    expect(() => wrong.tools).toThrow(
      'the function of `handoffs[0]` must give an agent, step, sequence, parallel, loop, plan, ' +
        'graph or router, not 3',
    );
  });
});
