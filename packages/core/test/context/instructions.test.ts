import {
  type AgentOptions,
  type AnySession,
  agent,
  type PromptText,
  type Runtime,
  run,
  runtime,
  tool,
} from 'adjutant';
import {
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  message,
  promptOf,
  template,
} from 'adjutant/context';
import { globalInstructions } from 'adjutant/middleware';
import { exportLedger, ledgerFileText, parseLedgerFile, replay, replayFile } from 'adjutant/replay';
import { expectPrompt, model as modelStep, runTest, scriptedModel, user } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({}),
  readOnly: true,
  execute: () => 'seen',
});

const script = () =>
  scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }], {
    defaultResponse: { text: 'Done.' },
  });

/** The prompts of an agent with one tool call, as roles and texts. */
async function promptsOf(options: Partial<AgentOptions>): Promise<string[][]> {
  const model = script();
  await run(agent({ name: 'clerk', model, tools: [look], ...options }), 'How many?');
  return model.calls.map(({ prompt }) =>
    prompt.flatMap((one) =>
      one.role === 'tool' || one.role === 'assistant'
        ? [one.role]
        : `${one.role}: ${
            typeof one.content === 'string'
              ? one.content
              : one.content.map((part) => ('text' in part ? part.text : '')).join('')
          }`,
    ),
  );
}

describe('instructions', () => {
  test('are a system message before the history', async () => {
    expect(await promptsOf({ instructions: 'You are a clerk.' })).toEqual([
      ['system: You are a clerk.', 'user: How many?'],
      ['system: You are a clerk.', 'user: How many?', 'assistant', 'tool'],
    ]);
  });

  test('come before all renderers of `context`', async () => {
    const [first] = await promptsOf({
      instructions: 'First.',
      context: [injectSystemMessage('Second.'), includeHistory(), injectUserMessage('Last.')],
    });
    expect(first).toEqual(['system: First.', 'system: Second.', 'user: How many?', 'user: Last.']);
  });

  test('may be a function, which is called for each prompt', async () => {
    const prompts = await promptsOf({
      instructions: ({ agent: name, round }) => `${name}, round ${round}`,
    });
    expect(prompts.map(([system]) => system)).toEqual([
      'system: clerk, round 1',
      'system: clerk, round 2',
    ]);
  });

  test('may be an asynchronous function', async () => {
    const prompts = await promptsOf({
      instructions: async ({ round }) => Promise.resolve(`Round ${round}`),
    });
    expect(prompts.map(([system]) => system)).toEqual(['system: Round 1', 'system: Round 2']);
  });

  test('take templates and typed messages, also asynchronous ones', async () => {
    const stateSchema = { session: { mood: z.string() } };
    const texts: readonly PromptText[] = [
      template('Mood {session:mood?}.'),
      message(stateSchema, ({ state }) => `Mood ${state.mood ?? ''}.`),
      message(stateSchema, async ({ state }) => `Mood ${state.mood ?? ''}.`),
    ];
    for (const instructions of texts)
      expect((await promptsOf({ instructions }))[0]?.[0]).toBe('system: Mood .');
  });

  test('go with a definition that is spread into another one', async () => {
    const model = script();
    const clerk = agent({ name: 'clerk', model: script(), instructions: 'Be brief.' });
    await run(agent({ ...(clerk as AgentOptions), model }), 'Hi');
    expect(model.calls[0]?.prompt[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  test('are part of the prompt that runTest shows', async () => {
    const clerk = agent({ name: 'clerk', model: script(), instructions: async () => 'Be kind.' });
    let shown: unknown;
    const { status } = await runTest(clerk, [
      user('Hi'),
      expectPrompt((prompt) => {
        shown = prompt[0];
      }),
      modelStep('Hello'),
    ]);
    expect(status).toBe('completed');
    expect(shown).toEqual({ role: 'system', content: 'Be kind.' });
  });

  test.each([
    ['', '""'],
    [42, '42'],
    [null, 'null'],
  ])('%j is refused', (instructions, shown) => {
    expect(() =>
      agent({ name: 'a', model: script(), instructions: instructions as string }),
    ).toThrow(
      'The agent "a" cannot be defined: `instructions` must be a text that is not empty, or a ' +
        `function that gives one, not ${shown}.`,
    );
  });
});

function expectExact(session: AnySession, model: ReturnType<typeof script>): void {
  const sent = model.calls.map(({ abortSignal: _, ...options }) => canonicalJson(options));
  const shown = session.events.flatMap((event) =>
    event.type === 'model_start' ? [canonicalJson(promptOf(session, event.seq))] : [],
  );
  expect(shown).toEqual(sent);
  expect(sent.length).toBeGreaterThan(0);
}

/** An app whose prompts are read from a place outside that changes with each reading. */
function outside(options: (read: () => Promise<string>) => Partial<AgentOptions>, start = 0) {
  let reads = start;
  const read = async (): Promise<string> => Promise.resolve(`Text ${++reads}`);
  const model = script();
  const clerk = agent({ name: 'clerk', model, tools: [look], ...options(read) });
  const app: Runtime = runtime({ app: 'shop', runnables: [clerk] });
  return { clerk, app, model, reads: () => reads - start };
}

const places: readonly (readonly [
  string,
  (read: () => Promise<string>) => Partial<AgentOptions>,
])[] = [
  ['instructions', (instructions) => ({ instructions })],
  ['injectSystemMessage', (read) => ({ context: [injectSystemMessage(read), includeHistory()] })],
  ['injectUserMessage', (read) => ({ context: [includeHistory(), injectUserMessage(read)] })],
  ['globalInstructions', (read) => ({ middleware: [globalInstructions(read)] })],
  [
    'a text that a later renderer leaves out',
    (read) => ({
      context: [
        injectSystemMessage(read),
        includeHistory(),
        (context) => context.withEvents(context.events.filter(({ type }) => type === 'user')),
      ],
    }),
  ],
  [
    'texts after a synchronous one',
    (read) => ({
      instructions: ({ round }) => `Round ${round}`,
      context: [injectSystemMessage(read), includeHistory(), injectUserMessage(read)],
    }),
  ],
];

describe('a text that is awaited', () => {
  test.each(places)('%s: is recorded, and a replay reads nothing outside', async (_name, of) => {
    const { clerk, app, model } = outside(of);
    const { session } = await app.run(clerk, 'How many?');
    expectExact(session, model);
    const later = outside(of, 100);
    const { divergence, events } = await replay(session, later.app);
    expect(divergence).toBeUndefined();
    expect(events).toBe(session.events.length);
    expect(later.reads()).toBe(0);
  });

  test('is served from a file of the ledger from which secrets were taken', async () => {
    const secret = 'sk-test-1234567890abcdefghijklmnop';
    const of = (instructions: () => Promise<string>): Partial<AgentOptions> => ({ instructions });
    const { clerk, app } = outside(() => of(async () => `The key is ${secret}.`));
    const { session } = await app.run(clerk, 'How many?');
    const file = await exportLedger(session);
    expect(JSON.stringify(file)).not.toContain(secret);
    const later = outside(of);
    const result = await replayFile(parseLedgerFile(ledgerFileText(file)), later.app);
    expect(result.divergence).toBeUndefined();
    expect(later.reads()).toBe(0);
  });

  test('is asked for where the record has none, and the difference is told', async () => {
    const { clerk, app } = outside(() => ({ instructions: 'Text 0' }));
    const { session } = await app.run(clerk, 'How many?');
    const later = outside((instructions) => ({ instructions }));
    const { divergence } = await replay(session, later.app);
    expect(divergence?.subject).toBe('In model call 1 of clerk: the system prompt changed');
    expect(later.reads()).toBe(1);
  });

  test('a synchronous function is called by a replay: its changes are told', async () => {
    const { clerk, app } = outside(() => ({ instructions: () => 'Be brief.' }));
    const { session } = await app.run(clerk, 'How many?');
    const later = outside(() => ({ instructions: () => 'Be long.' }));
    const { divergence } = await replay(session, later.app);
    expect(divergence?.kind).toBe('prompt');
  });

  test('that fails ends the agent with its error', async () => {
    const { clerk, app } = outside(() => ({
      instructions: async () => {
        throw new Error('The prompt service is down');
      },
    }));
    expect((await app.run(clerk, 'Hi')).error?.message).toBe(
      'The `instructions` of the agent "clerk" threw: The prompt service is down.',
    );
  });

  test('that never comes does not keep a run from being cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    const { clerk, app } = outside(() => ({
      instructions: () => {
        asked.resolve();
        return new Promise<string>(() => undefined);
      },
    }));
    const running = app.run(clerk, { session: 's', input: 'Hi' });
    await asked.promise;
    await app.cancel('s');
    expect((await running).status).toBe('cancelled');
  });

  test.each([
    ['a function', () => undefined],
    ['an asynchronous function', async () => undefined],
  ])('%s that gives no text is told', async (_name, instructions) => {
    const { clerk, app } = outside(() => ({ instructions: instructions as never }));
    expect((await app.run(clerk, 'Hi')).error).toMatchObject({
      code: 'prompt_text',
      message:
        'The text of a system message of the prompt must be a string, and its function gave ' +
        'undefined.',
    });
  });

  test('within another renderer is told', async () => {
    const { clerk, app } = outside((read) => ({
      context: [includeHistory(), (context) => injectSystemMessage(read)(context)],
    }));
    expect((await app.run(clerk, 'Hi')).error).toMatchObject({
      code: 'prompt_text',
      message:
        'The text of a system message of the prompt is a promise, which only the list `context` ' +
        'itself can wait for: put the renderer into the list instead of calling it in another one.',
    });
  });
});
