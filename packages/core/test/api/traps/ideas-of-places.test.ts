import { agent, parallel, run, runtime, sequence, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusalOf } from './refusal.ts';

const model = scriptedModel([]);
const clerk = agent({ name: 'clerk', model });
const execute = () => undefined;

const retries =
  "models and tools are tried again: openai('gpt-5-mini', { retry: { attempts: 3 } }), " +
  'tool({ retry: { attempts: 3 } })';
const timeouts =
  'runs, calls and tools have one: app.run(agent, { timeoutMs: 60_000 }), ' +
  'ctx.call(agent, { timeoutMs: 60_000 }), tool({ timeoutMs: 60_000 })';
const store = "the runtime keeps sessions: runtime({ app, store: sqlite('file.db') })";
const asking = "ctx.ask('key', { message, details, schema }) in the body gives the checked answer";
const mcp = 'there is no MCP client yet: a tool({ execute }) may call the server by its SDK';

/** Defines with an option that does not exist, at the place of each group below. */
const places = {
  agent: (written: object) => agent({ name: 'a', model, ...written }),
  tool: (written: object) =>
    tool({ name: 't', description: 'Does it', schema: z.object({}), execute, ...written }),
  step: (written: object) => step({ name: 's', execute, ...written }),
  sequence: (written: object) => sequence({ name: 's', runnables: [clerk], ...written }),
  parallel: (written: object) => parallel({ name: 'p', runnables: [clerk], ...written }),
  runtime: (written: object) => runtime({ app: 'a', ...written }),
};

describe.each<[keyof typeof places, readonly (readonly [option: string, hint: string])[]]>([
  [
    'agent',
    [
      ['handoffDescription', 'it is `description` here'],
      ['mcpServers', mcp],
      ['prepareStep', 'it is `hooks.beforeModel` here or a renderer in `context`'],
      ['maxRetries', retries],
      ['retries', retries],
      ['timeout', timeouts],
      ['timeoutMs', timeouts],
      [
        'toolUseBehavior',
        "it is `hooks.beforeModel` here with an answer in the place of the model's: " +
          "{ stepEvents: [{ type: 'assistant', text }] }",
      ],
      ['processors', 'it is `supervision.guardrails` here or `middleware`'],
      ['scorers', 'evals score answers: defineEval({ scorers }) of adjutant/eval'],
      ['store', store],
      ['id', 'it is `name` here'],
      ['session', 'a run names its session: app.run(agent, { session, input })'],
      ['cache', 'it is `middleware` here with responseCache() of adjutant/middleware'],
    ],
  ],
  [
    'tool',
    [
      ['id', 'it is `name` here'],
      ['input', 'it is `schema` here'],
      ['resumeSchema', 'it is `yieldSchema` here'],
      ['suspendSchema', 'it is `yieldOptions` here with `details`, which people are shown'],
      ['strict', 'arguments are always checked; the model is told which do not fit'],
      ['cache', 'results are recorded and not reused: keep what may be used again in ctx.state'],
    ],
  ],
  [
    'step',
    [
      ['id', 'it is `name` here'],
      ['resumeSchema', asking],
      ['suspendSchema', asking],
      ['retries', 'effects are tried again: ctx.effect(key, fn, { retry: { attempts: 3 } })'],
      ['timeout', timeouts],
    ],
  ],
  [
    'sequence',
    [
      ['id', 'it is `name` here'],
      ['inputSchema', 'data is checked by the part that gets it: step({ input: schema })'],
    ],
  ],
  [
    'parallel',
    [
      ['race', 'it is `until` here (`until: 1` ends the others as soon as one has completed)'],
      ['concurrency', 'all branches start at once; a step that calls a few at a time bounds them'],
      ['timeout', 'it is `branchTimeoutMs` here'],
      ['timeoutMs', 'it is `branchTimeoutMs` here'],
    ],
  ],
  [
    'runtime',
    [
      ['logger', 'it is `middleware` here with loggingMiddleware() of adjutant/middleware'],
      ['model', "agents have models: agent({ model: 'openai:gpt-5-mini' })"],
      ['onInterrupt', 'it is `onRequest` here'],
      ['timeoutMs', 'it is `limits.timeoutMs` here'],
      ['maxRetries', 'it is `defaults.modelRetry.attempts` here and counts the first attempt too'],
      ['mcpServers', mcp],
    ],
  ],
])('an option of a %s', (place, options) => {
  test.each(options)('%s', (option, hint) => {
    expect(refusalOf(() => places[place]({ [option]: {} }))).toContain(
      `there is no option \`${option}\` (${hint})`,
    );
  });
});

test('a text as `context` of an agent', () => {
  expect(refusalOf(() => places.agent({ context: 'You are kind.' }))).toBe(
    'The agent "a" cannot be defined: `context` must be a list of renderers; a text belongs ' +
      'into `instructions`, not "You are kind.".',
  );
});

test('a list of messages in the place of the input', () => {
  const told =
    'The run cannot begin: a run takes the new message, not a list: the session keeps those ' +
    "before it, app.run(agent, { session: 'ann', input: 'Hello' }).";
  const messages = [{ role: 'user', content: 'Hello' }] as never;
  expect(refusalOf(() => runtime({ app: 'a' }).run(clerk, messages))).toBe(told);
  expect(refusalOf(() => run(clerk, messages))).toBe(told);
});
