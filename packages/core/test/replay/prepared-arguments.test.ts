import { type Agent, agent, type Runtime, run, runtime, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** Reads a page, whose address it makes whole first. */
function reading(site: string) {
  const read = tool({
    name: 'read',
    description: 'Reads a page',
    schema: z.object({ page: z.string() }),
    readOnly: true,
    prepare: ({ args }) => ({ page: `${site}/${args.page}` }),
    execute: ({ args }) => `what ${args.page} says`,
  });
  const model = scriptedModel((prompt) =>
    prompt.at(-1)?.role === 'tool'
      ? { text: 'Read.' }
      : { toolCalls: [{ name: 'read', args: { page: 'news' } }] },
  );
  return agent({ name: 'reader', model, tools: [read] });
}

function appOf(site: string): Runtime {
  return runtime({ app: 'app', runnables: [reading(site)] });
}

test('other prepared arguments of a tool that may be run again are found', async () => {
  const { session } = await run(reading('https://one.example'), 'Read the news');
  expect((await replay(session, appOf('https://one.example'))).divergence).toBeUndefined();

  const { divergence } = await replay(session, appOf('https://two.example'));
  expect(divergence).toMatchObject({
    kind: 'arguments',
    replayed: { page: 'https://two.example/news' },
  });
  expect(session.events[(divergence?.seq ?? 0) - 1]).toMatchObject({ type: 'tool_attempt' });
});

/** Reads a page; `page` is what its schema makes of what the model says. */
function parsing(page: z.ZodType<string>) {
  const read = tool({
    name: 'read',
    description: 'Reads',

    schema: z.object({ page }),
    readOnly: true,
    execute: () => 'news',
  });
  const model = scriptedModel((prompt) =>
    prompt.at(-1)?.role === 'tool'
      ? { text: 'Read.' }
      : { toolCalls: [{ name: 'read', args: { page: 'News' } }] },
  );
  return agent({ name: 'reader', model, tools: [read] });
}

const unchanged = (page: string): string => page;
const lower = (page: string): string => page.toLowerCase();

test.each([
  ['a schema that begins to change them', unchanged, lower],
  ['a schema that no longer changes them', lower, unchanged],
])('%s is found', async (_name, before, now) => {
  const recorded = parsing(z.string().transform(before));
  const { session } = await run(recorded, 'Read the news');
  const appWith = (reader: Agent): Runtime => runtime({ app: 'app', runnables: [reader] });
  expect(
    (await replay(session, appWith(parsing(z.string().transform(before))))).divergence,
  ).toBeUndefined();
  expect(
    (await replay(session, appWith(parsing(z.string().transform(now))))).divergence,
  ).toMatchObject({ kind: 'arguments' });
});

test('arguments in another order are the same', async () => {
  const ordered = (args: { readonly a: number; readonly b: number }) => {
    const schema = z.object({ b: z.number(), a: z.number() });
    const add = tool({
      name: 'add',
      description: 'Adds',
      schema,
      readOnly: true,
      execute: ({ args: given }) => given.a + given.b,
    });
    const model = scriptedModel((prompt) =>
      prompt.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'add', args }] },
    );
    return agent({ name: 'adder', model, tools: [add] });
  };
  const { session } = await run(ordered({ a: 1, b: 2 }), 'Add');
  const { divergence } = await replay(
    session,
    runtime({ app: 'app', runnables: [ordered({ a: 1, b: 2 })] }),
  );
  expect(divergence).toBeUndefined();
});
