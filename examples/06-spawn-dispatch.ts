/**
 * `spawn` gives a handle: the caller does not end before the child. `dispatch` gives none: the
 * run's result does not wait.
 */
import assert from 'node:assert/strict';
import { agent, run, session, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

// With a real model: model: openai('gpt-5-mini')
const fast = agent({ name: 'fast', model: scriptedModel([{ text: 'done' }]) });
const slow = agent({ name: 'slow', model: scriptedModel([{ text: 'too late', delayMs: 60_000 }]) });
const mail = agent({
  name: 'mail',
  model: scriptedModel([{ text: 'sent', delayMs: 20 }]),
  output: 'mail',
});

const work = step({
  name: 'work',
  execute: async (ctx) => {
    const first = ctx.spawn(fast);
    const second = ctx.spawn(slow);
    const { output } = await first.wait();
    second.abort('The first one was enough.');
    const aborted = await second.wait();
    ctx.dispatch(mail, { message: 'Tell everybody' });
    return ctx.complete({ first: output ?? null, second: aborted.status });
  },
});

const log = await session('office');
const mailSent = new Promise<void>((resolve) => {
  log.onStateChange(() => resolve());
});

const result = await run(work, { session: log });
console.log(
  `result: ${JSON.stringify(result.output)}; mail so far: ${log.state.mail ?? 'not sent'}`,
);
assert.deepEqual(result.output, { first: 'done', second: 'cancelled' });
assert.equal(log.state.mail, undefined);

// The dispatched child goes on by itself.
await mailSent;
console.log(`mail now: ${log.state.mail}`);
assert.equal(log.state.mail, 'sent');
