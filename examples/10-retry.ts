/** Retries of a tool, with growing delays. A test clock lets the delays pass at once. */
import assert from 'node:assert/strict';
import { agent, runtime, ToolFailure, tool } from 'adjutant';
import { scriptedModel, testClock } from 'adjutant/testing';
import { z } from 'zod';

const clock = testClock();
const startedAt = clock.now();
const attempts: number[] = [];

const weather = tool({
  name: 'weather',
  description: 'Gives the weather of a city',
  schema: z.object({ city: z.string() }),
  retry: { attempts: 4, initialDelayMs: 500, multiplier: 2 },
  execute: (ctx) => {
    attempts.push(clock.now() - startedAt);
    // A status of 429 says that nothing was done, so the attempt may be repeated; 404 would not be.
    if (ctx.attempt < 3)
      throw new ToolFailure('Too many requests', {
        errorType: 'http_429',
        status: 'error_transient',
      });
    return { city: ctx.args.city, sky: 'clear' };
  },
});

const reporter = agent({
  name: 'reporter',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] },
    { text: 'It is clear in Oslo.' },
  ]),
  tools: [weather],
});

const app = runtime({ app: 'weather', ports: { clock } });
const running = app.run(reporter, 'How is the weather in Oslo?');
for await (const event of running) {
  if (event.type !== 'tool_result') continue;
  console.log(
    `attempt ${event.attempt}: ` +
      `${event.result.status}${event.settled ? '' : `, again in ${event.retryAfterMs} ms`}`,
  );
  if (event.retryAfterMs !== undefined) clock.advance(event.retryAfterMs);
}
const result = await running;

assert.equal(result.output, 'It is clear in Oslo.');
assert.deepEqual(attempts, [0, 500, 1_500]);
assert.equal(result.toolCalls[0]?.attempts, 3);
assert.equal(result.toolCalls[0]?.success, true);
