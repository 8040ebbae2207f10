import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent } from '../runnables/agent.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { promptAt } from './recipe.ts';
import {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  selectRecentTokens,
} from './renderers.ts';
import { enrichment, message, template } from './typed-prompts.ts';

const stateSchema = {
  session: { mood: z.string(), notes: z.array(z.string()) },
  user: { name: z.string() },
};

async function promptWith(context: Parameters<typeof agent>[0]['context']) {
  const model = scriptedModel([{ text: 'ok' }]);
  const app = runtime({ app: 'desk', stateSchema });
  const desk = await app.sessions.open({ id: 's', scopes: { user: 'ann' } });
  desk.state.mood = 'cheerful {session:notes}';
  desk.state.user.name = 'Ann';
  const worker = agent({ name: 'worker', model, context: context ?? [] });
  const result = await app.run(worker, { session: desk, input: 'Hello' });
  return {
    result,
    model,
    texts:
      model.calls[0]?.prompt.map(({ content }) =>
        typeof content === 'string' ? content : JSON.stringify(content),
      ) ?? [],
  };
}

test(
  'typed prompts see the state by its schema, and the prompt is recorded ' + 'as it was',
  async () => {
    const { texts, result, model } = await promptWith([
      injectSystemMessage(
        message(
          stateSchema,
          (ctx) =>
            `Mood: ${ctx.state.mood ?? 'none'} of ${ctx.state.user.name ?? '?'}, notes: ` +
            `${ctx.state.notes?.length}`,
        ),
      ),
      includeHistory(),
      enrichUserMessages(
        enrichment(
          stateSchema,
          (ctx) => `${ctx.message} (from ${ctx.state.user.name}, round ${ctx.round})`,
        ),
      ),
    ]);
    expect(texts[0]).toBe('Mood: cheerful {session:notes} of Ann, notes: undefined');
    expect(texts[1]).toContain('Hello (from Ann, round 1)');
    expect(promptAt(result.session, 1).prompt).toEqual(model.calls[0]?.prompt);
  },
);

test(
  'a template takes values of the state, leaves other braces alone and nothing within values ' +
    'in place',
  async () => {
    const { texts } = await promptWith([
      injectSystemMessage(
        template('{session:mood} | {user:name?} | {session:notes?} | {"a": {b}} | {none:x?}'),
      ),
      includeHistory(),
    ]);
    expect(texts[0]).toBe('cheerful {session:notes} | Ann |  | {"a": {b}} | ');
  },
);

test('a template refuses a value that is missing, and takes none from elsewhere', async () => {
  const { result } = await promptWith([
    injectUserMessage(template('{session:constructor}')),
    includeHistory(),
  ]);
  expect(result.error).toMatchObject({
    code: 'prompt_template',
    message: expect.stringContaining('{session:constructor}'),
  });
});

test('selectRecentTokens keeps whole rounds that fit, and the last one in any case', async () => {
  const read = tool({
    name: 'read',
    description: 'Reads',
    recovery: 'rerun',
    schema: z.object({ n: z.number() }),
    execute: ({ args }) => `${args.n}`.repeat(400),
  });
  const rounds = [1, 2, 3, 4].map((n) => ({ toolCalls: [{ name: 'read', args: { n } }] }));
  const select = async (tokens: number) => {
    const model = scriptedModel([...rounds, { text: 'done' }]);
    await runtime({ app: 'desk' }).run(
      agent({
        name: 'worker',
        model,
        tools: [read],
        context: [includeHistory(), selectRecentTokens(tokens)],
      }),
      'Go',
    );
    return model.calls[4]?.prompt.map(({ role }) => role);
  };
  expect(await select(250)).toEqual(['assistant', 'tool', 'assistant', 'tool']);
  expect(await select(1)).toEqual(['assistant', 'tool']);
  expect(await select(10_000)).toHaveLength(9);
});
