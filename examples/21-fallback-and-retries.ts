/**
 * Handling of a tool that fails: it is tried again after a while, another tool takes its place, and
 * a service that is down is left alone until it may work again. A test clock lets the delays pass
 * at once.
 */
import assert from 'node:assert/strict';
import { agent, runtime, ToolFailure, tool } from 'adjutant';
import { type ScriptedResponse, scriptedModel, testClock } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const clock = testClock();
const schema = z.object({ city: z.string() });
/** Status of the weather service; 200 when it works. */
let httpStatus = 429;
const askedAt: number[] = [];

const forecast = tool({
  name: 'forecast',
  description: 'Gives the weather of tomorrow',
  schema,
  readOnly: true,
  fallback: { tool: 'almanac', args: ({ city }) => ({ region: `around ${city}` }) },
  execute: ({ args }) => {
    askedAt.push(clock.monotonic() / 1_000);
    // Errors of `fetch` libraries are understood as it is. A service that says when to come back is
    // asked again then.
    if (httpStatus !== 200)
      throw new ToolFailure('The weather service has a problem', {
        errorType: `http_${httpStatus}`,
      });
    return `Sunny in ${args.city}`;
  },
});
const almanac = tool({
  name: 'almanac',
  description: 'Says what the weather is usually like',
  schema: z.object({ region: z.string() }),
  readOnly: true,
  execute: ({ args }) => `Usually it rains ${args.region}`,
});

const ask = (city: string): ScriptedResponse => ({
  toolCalls: [{ name: 'forecast', args: { city } }],
});
const reporter = agent({
  name: 'reporter',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    ask('Oslo'),
    { text: 'a' },
    ask('Rome'),
    { text: 'b' },
    ask('Bonn'),
    { text: 'c' },
    ask('Nice'),
    { text: 'd' },
  ]),
  tools: [forecast, almanac],
  supervision: {
    // A service that is down gets two more attempts, and then the other tool is run.
    errors: { initialDelayMs: 2_000 },
  },
});
const app = runtime({
  app: 'weather',
  ports: { clock },
  supervision: { circuitBreaker: { failures: 3, resetAfterMs: 60_000 } },
});

/**
 * Asks for the weather of a city. Gives when the service was asked, in seconds, what the model
 * read, and what was decided.
 */
async function report(city: string, onWait: () => void = () => {}) {
  askedAt.length = 0;
  const start = clock.monotonic() / 1_000;
  const running = app.run(reporter, `How will the weather be in ${city}?`);
  for await (const event of running) {
    if (event.type !== 'tool_result' || event.retryAfterMs === undefined) continue;
    onWait();
    clock.advance(event.retryAfterMs);
  }
  const { session } = await running;
  const result = session.events.findLast((event) => event.type === 'tool_result');
  const decided = explain(session).map(({ component, decision }) => `${component}: ${decision}`);
  console.log(`${city}: ${JSON.stringify(result?.result.content)}`, decided);
  return { askedAfter: askedAt.map((at) => at - start), content: result?.result.content, decided };
}

// Too many requests: asked again after a while, and then it works. The model notices nothing.
assert.deepEqual(await report('Oslo', () => (httpStatus = 200)), {
  askedAfter: [0, 2],
  content: 'Sunny in Oslo',
  decided: ['error_router: backoff'],
});

// Down: asked again with growing delays; then the almanac stands in, and three failures in a row
// open the circuit.
httpStatus = 503;
assert.deepEqual(await report('Rome'), {
  askedAfter: [0, 2, 6],
  content: 'Usually it rains around Rome',
  decided: [
    'error_router: backoff',
    'error_router: backoff',
    'error_router: fallbackTool',
    'circuit_breaker: open',
  ],
});

// While it is open the service is left alone, in all sessions of this runtime.
assert.deepEqual(await report('Bonn'), {
  askedAfter: [],
  content: 'Usually it rains around Bonn',
  decided: ['circuit_breaker: refuse', 'error_router: fallbackTool'],
});

// A minute later one call is let through, to see whether the service works again.
httpStatus = 200;
clock.advance(60_000);
assert.deepEqual(await report('Nice'), {
  askedAfter: [0],
  content: 'Sunny in Nice',
  decided: ['circuit_breaker: half_open', 'circuit_breaker: close'],
});
await app.close();
