import {
  agent,
  agentTool,
  memoryStore,
  runtime,
  type Session,
  sequence,
  step,
  tool,
} from 'adjutant';
import { appendBoundaries, scriptedModel, tickingClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const quiet = z.object({});
const facts = (session: Session) =>
  session.events.flatMap((event) => (event.type === 'memory' ? [event.text] : []));
const remembering = (name: string, text: () => string, key?: string) =>
  tool({
    name,
    description: 'Keeps a fact',
    schema: quiet,
    execute: (ctx) => {
      ctx.remember(text(), key === undefined ? {} : { key });
      return 'kept';
    },
  });
const textOf = (prompt: unknown) => JSON.stringify(prompt);

test(
  'a fact stands in the prompts of its agent and of those that come ' + 'after it, once',
  async () => {
    const first = scriptedModel([
      { toolCalls: [{ name: 'note' }] },
      { toolCalls: [{ name: 'note' }] },
      { text: 'done' },
    ]);
    const second = scriptedModel([{ text: 'seen' }]);
    const note = remembering('note', () => 'Prefers letters');
    const all = sequence({
      name: 'all',
      runnables: [
        agent({ name: 'a', model: first, tools: [note] }),
        agent({ name: 'b', model: second }),
      ],
    });
    const { session } = await runtime({ app: 'facts' }).run(all, 'Go');
    expect(facts(session)).toEqual(['Prefers letters']);
    expect(textOf(first.calls[0]?.prompt)).not.toContain('Remember');
    expect(textOf(first.calls[1]?.prompt).split('Remember: Prefers letters')).toHaveLength(2);
    expect(textOf(second.calls[0]?.prompt)).toContain('Remember: Prefers letters');
  },
);

test('a later fact of the same key takes the place of the earlier one', async () => {
  let n = 0;
  const model = scriptedModel([
    { toolCalls: [{ name: 'note' }] },
    { toolCalls: [{ name: 'note' }] },
    { text: 'done' },
  ]);
  const { session } = await runtime({ app: 'facts' }).run(
    agent({ name: 'a', model, tools: [remembering('note', () => `Step ${++n}`, 'progress')] }),
    'Go',
  );
  expect(facts(session)).toEqual(['Step 1', 'Step 2']);
  expect(textOf(model.calls[2]?.prompt)).toContain('Remember: Step 2');
  expect(textOf(model.calls[2]?.prompt)).not.toContain('Remember: Step 1');
});

test(
  'what an agent that a tool calls finds out is known to its caller and in ' + 'later runs',
  async () => {
    const inner = agent({
      name: 'inner',
      model: scriptedModel([{ toolCalls: [{ name: 'note' }] }, { text: 'found' }]),
      tools: [remembering('note', () => 'Is deaf')],
    });
    const outer = scriptedModel([
      { toolCalls: [{ name: 'inner', args: { message: 'look' } }] },
      { text: 'done' },
      { text: 'again' },
    ]);
    const app = runtime({ app: 'facts' });
    const caller = agent({ name: 'outer', model: outer, tools: [agentTool(inner)] });
    await app.run(caller, { input: 'Go', session: 's' });
    await app.run(caller, { input: 'Once more', session: 's' });
    expect(textOf(outer.calls[1]?.prompt)).toContain('Remember: Is deaf');
    expect(textOf(outer.calls[2]?.prompt)).toContain('Remember: Is deaf');
  },
);

test('a step that runs again keeps its facts once, wherever its process stopped', async () => {
  const child = step({ name: 'child', execute: (ctx) => ctx.complete(1) });
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      ctx.remember('Found once');
      ctx.remember('Level 1', { key: 'level' });
      ctx.state['count'] = ((ctx.state['count'] as number | undefined) ?? 0) + 1;
      await ctx.call(child);
      ctx.remember('Level 2', { key: 'level' });
      await ctx.call(child, { key: 'again' });
      return undefined;
    },
  });
  const clock = tickingClock();
  const { session } = await runtime({ app: 'facts', ports: { clock } }).run(work, {
    runId: 'run',
    input: 'Go',
  });
  const expected = ['Found once', 'Level 1', 'Level 2'];
  expect(facts(session)).toEqual(expected);
  for (const cut of appendBoundaries(session.events)) {
    if (cut < 2 || cut === session.events.length) continue;
    const app = runtime({ app: 'facts', store: memoryStore(), runnables: [work, child] });
    const restored = await app.sessions.restore({
      ...session.toJSON(),
      events: session.events.slice(0, cut),
    });
    await app.resume(restored);
    expect({ cut, facts: facts(restored), count: restored.state['count'] }).toEqual({
      cut,
      facts: expected,
      count: 1,
    });
  }
});

test(
  'facts land with the writes of a call, also of one that fails; what is no fact ' + 'is refused',
  async () => {
    const errors: unknown[] = [];
    const bad = tool({
      name: 'bad',
      description: 'Fails',
      schema: quiet,
      execute: (ctx) => {
        for (const text of ['', 7, 'x'.repeat(4_001)]) {
          try {
            ctx.remember(text as string);
          } catch (error) {
            errors.push((error as { code?: unknown }).code);
          }
        }
        ctx.remember('The door is locked');
        throw new Error('no');
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'bad' }] }, { text: 'done' }]);
    const { session } = await runtime({ app: 'facts' }).run(
      agent({ name: 'a', model, tools: [bad], supervision: false }),
      'Go',
    );
    expect(errors).toEqual(['invalid_fact', 'invalid_fact', 'invalid_fact']);
    expect(facts(session)).toEqual(['The door is locked']);
  },
);
