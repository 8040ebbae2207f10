import {
  type AgentOptions,
  agent,
  loop,
  openai,
  parallel,
  type RunOptions,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusalOf } from './refusal.ts';

/** Options as people write them who know other systems. */
type Written = Readonly<Record<string, unknown>>;

const model = scriptedModel([], { defaultResponse: { text: 'Done.' } });
const clerk = agent({ name: 'clerk', model });

const inAgent = (written: Written) =>
  refusalOf(() => agent({ name: 'a', model, ...written } as AgentOptions));
const toolOptions = { name: 't', description: 'Does it' };
const inTool = (written: Written) =>
  refusalOf(() => tool({ ...toolOptions, ...written } as Parameters<typeof tool>[0]));

describe('an agent as it is written elsewhere', () => {
  test.each<[string, Written, string]>([
    ['systemPrompt', { systemPrompt: 'Be kind.' }, 'it is `instructions` here'],
    ['system', { system: 'Be kind.' }, 'it is `instructions` here'],
    ['prompt', { prompt: 'Be kind.' }, 'it is `instructions` here'],
    ['maxTurns', { maxTurns: 5 }, 'it is `limits.rounds` here'],
    ['maxIterations', { maxIterations: 5 }, 'it is `limits.rounds` here'],
    ['stopWhen', { stopWhen: () => true }, 'it is `limits.rounds` here'],
    ['outputType', { outputType: z.string() }, 'it is `output` here'],
    ['inputSchema', { inputSchema: z.object({}) }, 'it is `input` here'],
    [
      'fallbackModels',
      { fallbackModels: [model] },
      'it is `model` here as a list: each next one is asked when those before it cannot answer',
    ],
    ['guardrails', { guardrails: [] }, 'it is `supervision.guardrails` here'],
    ['callbacks', { callbacks: {} }, 'it is `hooks` here'],
    [
      'needsApproval',
      { needsApproval: true },
      'approval is an option of tools: tool({ approval: true })',
    ],
    [
      'memory',
      { memory: {} },
      'sessions keep conversations and state (app.run(agent, { session, input })), and ' +
        'ctx.remember() keeps facts',
    ],
    [
      'checkpointer',
      { checkpointer: {} },
      "the runtime keeps sessions: runtime({ app, store: sqlite('file.db') })",
    ],
    ['thread', { thread: 't1' }, 'a run names its session: app.run(agent, { session, input })'],
    [
      'subAgents',
      { subAgents: [clerk] },
      'agents that an agent calls are tools: tools: [agentTool(other)]',
    ],
    [
      'temperature',
      { temperature: 0 },
      "settings belong to the model: openai('gpt-5-mini', { temperature: 0 })",
    ],
  ])('%s', (name, written, hint) => {
    expect(inAgent(written)).toBe(
      `The agent "a" cannot be defined: there is no option \`${name}\` (${hint}).`,
    );
  });

  test('a name that means nothing gets the list, documented names only', () => {
    expect(inAgent({ colour: 'red' })).toMatch(
      /no option `colour` \(the options are name, model, description, instructions, context, tools, /,
    );
    expect(inAgent({ colour: 'red' })).not.toMatch(/inputSchema|fallbackModels/);
  });

  test('a spelling gets the nearest name', () => {
    expect(inAgent({ instrutions: 'Be kind.' })).toContain('(did you mean `instructions`?)');
  });

  test('tools of the AI SDK, which have no name', () => {
    const weather = { description: 'Weather', inputSchema: z.object({}), execute: () => 'sunny' };
    const told = /`tools` must be a list of tools made by tool\(\), or agentTool\(\) for runnables/;
    expect(inAgent({ tools: [weather] })).toMatch(told);
    expect(inAgent({ tools: { weather } })).toMatch(told);
  });

  test('a definition that is spread keeps the members that agent() added', () => {
    const spread = { ...agent({ name: 'b', model: [model, model], input: z.object({}) }) };
    expect(agent(spread as AgentOptions).fallbackModels).toHaveLength(1);
  });
});

describe('a tool as it is written elsewhere', () => {
  const schema = z.object({});
  const execute = () => 'done';

  test.each<[string, Written, string]>([
    ['parameters', { parameters: schema, execute }, 'it is `schema` here'],
    ['inputSchema', { inputSchema: schema, execute }, 'it is `schema` here'],
    ['needsApproval', { schema, execute, needsApproval: true }, 'it is `approval` here'],
    ['handler', { schema, handler: execute }, 'it is `execute` here'],
    ['run', { schema, run: execute }, 'it is `execute` here'],
    ['func', { schema, func: execute }, 'it is `execute` here'],
    ['timeout', { schema, execute, timeout: 5 }, 'it is called `timeoutMs` now'],
    [
      'retries',
      { schema, execute, retries: 2 },
      'it is `retry.attempts` here and counts the first attempt too',
    ],
  ])('%s', (name, written, hint) => {
    expect(inTool(written)).toBe(
      `The tool "t" cannot be defined: there is no option \`${name}\` (${hint}).`,
    );
  });

  test('a definition that is spread keeps the members that tool() added', () => {
    const one = tool({ name: 'one', description: 'One', schema, execute });
    expect(tool({ ...(one as object), name: 'two' } as never).name).toBe('two');
  });
});

describe('other definitions and calls', () => {
  const any = (written: Written) => written as never;

  test.each<[string, () => unknown, string]>([
    ['a step', () => step(any({ name: 's', run: () => 1 })), '`run` (it is `execute` here)'],
    [
      'a sequence',
      () => sequence(any({ name: 's', steps: [clerk] })),
      '`steps` (it is `runnables` here)',
    ],
    [
      'a parallel',
      () => parallel(any({ name: 'p', branches: [clerk] })),
      '`branches` (it is `runnables` here)',
    ],
    [
      'a loop',
      () => loop(any({ name: 'l', runnable: clerk, maxTurns: 3 })),
      '`maxTurns` (it is `maxIterations` here)',
    ],
    [
      'a loop until something',
      () => loop(any({ name: 'l', runnable: clerk, until: () => true })),
      '`until` (it is `while` here)',
    ],
    [
      'a runtime with agents',
      () => runtime(any({ app: 'a', agents: [clerk] })),
      '`agents` (it is `runnables` here)',
    ],
    [
      'a runtime with a checkpointer',
      () => runtime(any({ app: 'a', checkpointer: {} })),
      '`checkpointer` (it is `store` here)',
    ],
    [
      'a model',
      () => openai('gpt-5-mini', any({ maxRetries: 2 })),
      '`maxRetries` (it is `retry.attempts` here and counts the first attempt too)',
    ],
  ])('%s', (_name, act, hint) => {
    expect(refusalOf(act)).toContain(hint);
  });

  test.each<[string, Written, string]>([
    ['threadId', { threadId: 't' }, '`threadId` (it is `session` here)'],
    ['messages', { messages: [] }, '`messages` (it is `input` here)'],
    ['context', { context: {} }, '`context` (it is `data` here)'],
    ['maxTurns', { maxTurns: 3 }, '`maxTurns` (it is `limits.rounds` here)'],
    ['abortSignal', { abortSignal: null }, '`abortSignal` (it is `signal` here)'],
    [
      'userId',
      { userId: 'ann' },
      "`userId` (a session belongs to a user: app.sessions.open({ id: 's', userId: 'ann' }))",
    ],
  ])('a run with %s', (_name, written, hint) => {
    const app = runtime({ app: 'a' });
    expect(refusalOf(() => app.run(clerk, written as RunOptions))).toContain(hint);
  });
});
