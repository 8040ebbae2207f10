import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalJson } from '../../base/json.ts';
import { injectEnvironment } from '../../context/environment.ts';
import { promptOf } from '../../context/recipe.ts';
import {
  includeHistory,
  injectUserMessage,
  selectRecentEvents,
  wrapUserMessages,
} from '../../context/renderers.ts';
import type { EventOf } from '../../ledger/event.ts';
import { agent } from '../../runnables/agent.ts';
import type { Renderer } from '../../runnables/render-context.ts';
import { runtime } from '../../runtime.ts';
import type { Session } from '../../session/session.ts';
import { type ScriptedResponse, scriptedModel } from '../../testing/kit/scripted-model.ts';
import { tool } from '../../tools/tool.ts';
import { inspectPrompt, type PromptInspection } from './inspect-prompt.ts';
import { applyPromptDiff } from './prompt-diff.ts';
import { promptOfSections } from './prompt-sections.ts';

const page = tool({
  name: 'page',
  description: 'Gives a page',
  recovery: 'rerun',
  schema: z.object({ n: z.number() }),
  execute: (ctx) => {
    if (ctx.args.n % 2 === 1) ctx.remember(`Read page ${ctx.args.n}`, { key: 'progress' });
    return `page ${ctx.args.n} ${'text '.repeat(ctx.args.n * 10)}`;
  },
});

const startsOf = ({ events }: Session): readonly EventOf<'model_start'>[] =>
  events.filter((event) => event.type === 'model_start');

const namesOf = ({ sections }: PromptInspection): readonly string[] =>
  sections.map(({ name }) => name);

/** A session of an agent that reads pages and then answers, for each message. */
async function paged(
  calls: readonly ScriptedResponse[],
  options: { readonly context?: readonly Renderer[]; readonly window?: number } = {},
): Promise<Session> {
  const { context, window } = options;
  const model = scriptedModel(calls, window === undefined ? {} : { contextWindow: window });
  const reader = agent({
    name: 'reader',
    model,
    instructions: 'You read pages.',
    tools: [page],
    maxSteps: 60,
    ...(context === undefined ? {} : { context }),
  });
  const app = runtime({ app: 'inspected' });
  const { session } = await app.run(reader, 'Read');
  while (model.calls.length < calls.length) await app.run(reader, { session, input: 'And again' });
  return session;
}

const reads = (n: number): ScriptedResponse => ({ toolCalls: [{ name: 'page', args: { n } }] });

describe('the sections of a prompt', () => {
  test('are named by what they were made of', async () => {
    const context = [
      injectEnvironment(),
      injectUserMessage('An example: page 1 is a page.'),
      includeHistory(),
    ];
    const session = await paged([reads(1), { text: 'Done.' }, { text: 'Again.' }], { context });
    const [first, second, third] = startsOf(session).map(({ seq }) => inspectPrompt(session, seq));
    expect(first && namesOf(first)).toEqual([
      'instructions',
      'environment',
      'tools',
      'injected',
      'message',
    ]);
    expect(second && namesOf(second)).toEqual([
      'instructions',
      'environment',
      'tools',
      'injected',
      'memory',
      'history',
      'message',
    ]);
    expect(first?.previous).toBeUndefined();
    expect(second?.previous?.seq).toBe(first?.seq);
    expect(second?.previous?.diff.map(({ section, kind }) => [section, kind])).toEqual([
      ['instructions', 'same'],
      ['environment', 'same'],
      ['tools', 'same'],
      ['injected', 'same'],
      ['memory', 'new'],
      ['history', 'new'],
      ['message', 'same'],
    ]);
    // The call before of the same agent is one of the run before.
    expect(third?.previous?.seq).toBe(second?.seq);
    const message = third?.sections.find(({ name }) => name === 'message');
    expect(JSON.stringify(message?.messages)).toContain('And again');
  });

  test('tell a message that a renderer rewrote from one that it added', async () => {
    const context = [
      injectUserMessage('Mind the gap.'),
      includeHistory(),
      wrapUserMessages((text) => `<<${text}>>`),
    ];
    const session = await paged([reads(2), { text: 'Done.' }, { text: 'Again.' }], { context });
    const last = inspectPrompt(session, startsOf(session).at(-1)?.seq ?? 0);
    const told = (name: string) =>
      JSON.stringify(last.sections.find((section) => section.name === name)?.messages);
    expect(told('injected')).toMatch(/^(?!.*<<).*Mind the gap/);
    expect(told('message')).toContain('<<And again>>');
    expect(told('history')).toContain('<<Read>>');
    expect(last.dropped).toBeUndefined();
  });

  test('have the tokens of the estimate that is recorded with the call', async () => {
    const session = await paged([reads(3), reads(4), { text: 'Done.' }]);
    for (const { seq, estimatedInputTokens } of startsOf(session)) {
      const { tokens, sections } = inspectPrompt(session, seq);
      expect(tokens).toBe(estimatedInputTokens);
      expect(sections.reduce((sum, section) => sum + section.share, 0)).toBeCloseTo(1);
    }
  });

  test('name the events that a compaction or a renderer left out', async () => {
    const calls = [...Array.from({ length: 20 }, (_, n) => reads(n)), { text: 'Done.' }];
    const compacted = await paged(calls, { window: 2_500 });
    const inspected = inspectPrompt(compacted, startsOf(compacted).at(-1)?.seq ?? 0);
    const at = compacted.events.flatMap(({ type, seq }) => (type === 'compaction' ? [seq] : []));
    expect(at.length).toBeGreaterThan(0);
    expect(inspected.dropped?.compactions).toEqual(at);
    const results = compacted.events.filter(({ type }) => type === 'tool_result');
    const first = results[0]?.seq ?? 0;
    expect(inspected.dropped?.events.some(([from, to]) => from <= first && first <= to)).toBe(true);
    const few = await paged([reads(2), reads(4), { text: 'Done.' }], {
      context: [includeHistory(), selectRecentEvents(2)],
    });
    const { dropped } = inspectPrompt(few, startsOf(few).at(-1)?.seq ?? 0);
    expect(dropped?.compactions).toEqual([]);
    const call = few.events.find(({ type }) => type === 'tool_call')?.seq ?? 0;
    expect(dropped?.events.some(([from, to]) => from <= call && call <= to)).toBe(true);
  });

  test('hide secrets in the settings of the call', async () => {
    const { model: plain } = agent({ name: 'x', model: scriptedModel([{ text: 'Done.' }]) });
    const model = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'keyed',
      settings: {
        temperature: 0.5,
        providerOptions: { gateway: { apiKey: 'sk-very-secret', order: ['a'] } },
      },
      load: () => ('kind' in plain ? plain.load() : plain),
    };
    const { session } = await runtime({ app: 'x' }).run(agent({ name: 'x', model }), 'Hi');
    const inspected = inspectPrompt(session, startsOf(session)[0]?.seq ?? 0);
    expect(JSON.stringify(inspected)).not.toContain('sk-very-secret');
    expect(inspected.call).toMatchObject({
      temperature: 0.5,
      providerOptions: { gateway: { apiKey: '[hidden]', order: ['a'] } },
    });
  });
});

const scripts = fc
  .array(
    fc.oneof(
      fc.nat(30).map(reads),
      fc.string({ maxLength: 40 }).map((text) => ({ text })),
    ),
    {
      maxLength: 12,
    },
  )
  .map((calls): readonly ScriptedResponse[] => [...calls, { text: 'Done.' }]);
const contexts = fc.constantFrom<readonly Renderer[] | undefined>(
  undefined,
  [injectEnvironment({ time: 'round' }), includeHistory()],
  [includeHistory(), injectUserMessage(({ round }) => `Round ${round}`)],
  [includeHistory(), selectRecentEvents(3)],
  [includeHistory(), wrapUserMessages((text) => `Please: ${text}`)],
);

test('sections together are the prompt, and a diff makes the next one of that before', async () => {
  await fc.assert(
    fc.asyncProperty(
      scripts,
      contexts,
      fc.constantFrom(undefined, 1_500),
      async (calls, context, window) => {
        const session = await paged(calls, {
          ...(context === undefined ? {} : { context }),
          ...(window === undefined ? {} : { window }),
        });
        for (const { seq } of startsOf(session)) {
          const { sections, previous, call } = inspectPrompt(session, seq);
          const exact = canonicalJson(promptOf(session, seq));
          expect(canonicalJson(promptOfSections(sections))).toBe(exact);
          expect(canonicalJson(call)).toBe(exact);
          if (previous === undefined) continue;
          const before = inspectPrompt(session, previous.seq);
          expect(applyPromptDiff(before.sections, previous.diff)).toEqual(sections);
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('a seq without a model call is refused, and so is something else than a session', async () => {
  const session = await paged([{ text: 'Done.' }]);
  expect(() => inspectPrompt(session, 1)).toThrowError(
    expect.objectContaining({ code: 'prompt_not_found' }),
  );
  expect(() => inspectPrompt({} as Session, 1)).toThrowError(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});
