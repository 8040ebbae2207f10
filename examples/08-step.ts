/**
 * Steps: code between agents. They route, stop, answer themselves, guard a door, and make
 * pipelines.
 */
import assert from 'node:assert/strict';
import { agent, run, sequence, session, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

// With a real model: model: openai('gpt-5-mini')
const urgent = agent({
  name: 'urgent',
  model: scriptedModel(() => ({ text: 'We call you at once.' })),
});
const standard = agent({
  name: 'standard',
  model: scriptedModel(() => ({ text: 'We answer within a day.' })),
});

const load = step({
  name: 'load',
  execute: (ctx) => {
    const message = ctx.session.events.findLast((event) => event.type === 'user')?.text ?? '';
    ctx.state.update({ message, priority: message.includes('fire') ? 'urgent' : 'normal' });
  },
});

/** A gate: it lets pass, answers itself, or ends everything. */
const gate = step({
  name: 'gate',
  execute: (ctx) => {
    if (ctx.state.message === '') return ctx.fail('There is no message.');
    if (ctx.state.cached !== undefined) return ctx.respond(String(ctx.state.cached));
    return ctx.skip();
  },
});

/** A router: the runnable that it returns continues in its place. */
const route = step({
  name: 'route',
  execute: (ctx) => {
    if (ctx.state.cached !== undefined) return ctx.skip();
    return ctx.state.priority === 'urgent' ? urgent : standard;
  },
});

const count = step({
  name: 'count',
  execute: (ctx) => ctx.complete(ctx.session.events.length, 'eventCount'),
});
const support = sequence({ name: 'support', runnables: [load, gate, route, count] });

async function answerTo(input: string, state: Record<string, string> = {}) {
  const ticket = await session('support');
  ticket.state.update(state);
  const result = await run(support, { session: ticket, input });
  const answer = ticket.events.findLast((event) => event.type === 'assistant')?.text;
  console.log(
    `${JSON.stringify(input)} -> ${answer ?? `${result.status}: ${result.error?.message}`}`,
  );
  return { answer, result };
}

assert.equal((await answerTo('There is a fire')).answer, 'We call you at once.');
assert.equal((await answerTo('A question')).answer, 'We answer within a day.');
assert.equal((await answerTo('A question', { cached: 'See our FAQ.' })).answer, 'See our FAQ.');

const { result } = await answerTo('');
assert.equal(result.status, 'error');
assert.equal(result.error?.code, 'step_failed');
assert.equal(result.session.state.eventCount, undefined);
