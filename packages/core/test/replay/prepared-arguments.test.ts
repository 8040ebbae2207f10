import { agent, type Runtime, run, runtime, tool } from 'adjutant';
import { recordedLedgerOf, replay, scriptedModel } from 'adjutant/testing';
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
    prompt.at(-1)?.role === 'tool' ? { text: 'Read.' } : { toolCalls: [{ name: 'read', args: { page: 'news' } }] },
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
  expect(divergence).toMatchObject({ kind: 'arguments', replayed: { page: 'https://two.example/news' } });
  expect(session.events[(divergence?.seq ?? 0) - 1]).toMatchObject({ type: 'tool_attempt' });
});

test('a ledger that does not name them is no divergence', async () => {
  const { session } = await run(reading('https://one.example'), 'Read the news');
  const events = session.events.map((event) => {
    if (event.type !== 'tool_attempt') return event;
    const { fingerprint: _fingerprint, ...unnamed } = event;
    return unnamed;
  });
  const { divergence } = await replay({ ...recordedLedgerOf(session), events }, appOf('https://one.example'));
  expect(divergence).toBeUndefined();
});
