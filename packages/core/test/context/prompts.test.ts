import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { agent, memoryStore, type Renderer, runtime } from 'adjutant';
import {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  limitTools,
  pruneReasoning,
  selectRecentEvents,
  setToolChoice,
  wrapUserMessages,
} from 'adjutant/context';
import {
  appendBoundaries,
  type ScriptedResponse,
  scriptedModel,
  tickingClock,
} from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectExact, look, read, script, scripted } from './exact-prompts.ts';

const contexts: readonly (readonly [string, readonly Renderer[] | undefined])[] = [
  ['the default context', undefined],
  [
    'a system message that depends on state',
    [
      injectSystemMessage(
        ({ state, round }) => `Seen ${state['session']?.['seen'] ?? 0} in round ${round}`,
      ),
      includeHistory(),
    ],
  ],
  [
    'the last events only',
    [injectSystemMessage('Be brief'), includeHistory(), selectRecentEvents(3)],
  ],
  ['no reasoning', [includeHistory(), pruneReasoning()]],
  [
    'wrapped and enriched messages',
    [
      includeHistory(),
      wrapUserMessages((text) => `<${text}>`),
      enrichUserMessages(
        ({ message, state }) => `${message} (${state['session']?.['seen'] ?? 'nothing'})`,
      ),
    ],
  ],
  [
    'messages around two histories',
    [
      includeHistory({ scope: 'own' }),
      injectUserMessage('between'),
      includeHistory({ scope: 'all' }),
    ],
  ],
  [
    'fewer tools by the round',
    [
      includeHistory(),
      (context) => (context.round % 2 === 0 ? limitTools(['look'])(context) : context),
      (context) => (context.round === 3 ? setToolChoice('required')(context) : context),
    ],
  ],
  [
    'events put together by hand',
    [
      includeHistory(),
      (context) => context.withEvents(context.events.filter((event) => event.type !== 'user')),
      injectUserMessage(({ round }) => `round ${round}`),
    ],
  ],
];

describe.each(contexts)('with %s', (_name, context) => {
  const make = () => {
    const model = scripted(2);
    return {
      model,
      worker: agent({
        name: 'worker',
        model,
        tools: [look, read],
        ...(context === undefined ? {} : { context }),
      }),
    };
  };

  test('each recorded prompt is, to the byte, what the model got, over two runs', async () => {
    const { model, worker } = make();
    const app = runtime({ app: 'prompts' });
    await app.run(worker, { input: 'Go', session: 's' });
    const { session } = await app.run(worker, { input: 'Again', session: 's' });
    expect(model.calls).toHaveLength(8);
    expectExact(session, [model]);
  });

  test(
    'a history that has grown gives what one made anew gives: a continued run asks what the ' +
      'first would have asked',
    async () => {
      const clock = tickingClock();
      const whole = make();
      const { session } = await runtime({ app: 'prompts', ports: { clock } }).run(whole.worker, {
        input: 'Go',
        runId: 'run',
      });
      const asked = whole.model.calls.map(({ prompt }) => canonicalJson(prompt));
      for (const cut of appendBoundaries(session.events)) {
        const rounds = session.events
          .slice(0, cut)
          .filter((event) => event.type === 'model_end').length;
        if (cut === 0 || cut === session.events.length) continue;
        const model = scriptedModel(script.slice(rounds));
        const app = runtime({
          app: 'prompts',
          store: memoryStore(),
          runnables: [
            agent({
              ...whole.worker,
              model,
              context: whole.worker.context ?? [includeHistory()],
            } as never),
          ],
        });
        const restored = await app.sessions.restore({
          ...session.toJSON(),
          events: session.events.slice(0, cut),
        });
        await app.resume(restored);
        const ids = (text: string) => text.replace(/"toolCallId":"[^"]*"/g, '');
        expect({ cut, asked: model.calls.map(({ prompt }) => ids(canonicalJson(prompt))) }).toEqual(
          {
            cut,
            asked: asked.slice(rounds).map(ids),
          },
        );
        expectExact(restored, [
          {
            calls: [
              ...whole.model.calls.slice(
                0,
                restored.events.filter((event) => event.type === 'model_start').length -
                  model.calls.length,
              ),
              ...model.calls,
            ],
          } as never,
        ]);
      }
    },
  );
});

test('each prompt of the default context begins with the whole prompt before it', async () => {
  const model = scripted(2);
  const worker = agent({
    name: 'worker',
    model,
    tools: [look, read],
    context: [injectSystemMessage('Be brief'), includeHistory()],
  });
  const app = runtime({ app: 'prompts' });
  await app.run(worker, { input: 'Go', session: 's' });
  await app.run(worker, { input: 'Again', session: 's' });
  for (const [i, { prompt }] of model.calls.entries()) {
    const before = model.calls[i - 1]?.prompt ?? [];
    expect(prompt.slice(0, before.length)).toEqual(before);
    // The very objects: nothing is encoded twice.
    if (i % 4 !== 0)
      expect(
        prompt.slice(1, before.length).every((message, at) => message === before[at + 1]),
      ).toBe(true);
  }
});

test(
  'the last events never part a call from its result, nor an answer from ' + 'its parts',
  async () => {
    const roundsOf = fc.array(
      fc.record({ calls: fc.nat(3), text: fc.boolean(), thought: fc.boolean() }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(roundsOf, fc.integer({ min: 1, max: 12 }), async (rounds, count) => {
        const responses: ScriptedResponse[] = rounds.map(({ calls, text, thought }) => ({
          ...(thought ? { thoughts: 'hm' } : {}),
          ...(text ? { text: 'said' } : {}),
          toolCalls: Array.from({ length: calls + 1 }, () => ({ name: 'look' })),
        }));
        const model = scriptedModel([...responses, { text: 'end' }]);
        const { session } = await runtime({ app: 'prompts' }).run(
          agent({
            name: 'a',
            model,
            tools: [look],
            context: [includeHistory(), selectRecentEvents(count)],
          }),
          'Go',
        );
        for (const { prompt } of model.calls) expectPaired(prompt);
        expectExact(session, [model]);
      }),
      { numRuns: 40 },
    );
  },
);

function expectPaired(prompt: readonly LanguageModelV4Message[]): void {
  prompt.forEach((message, i) => {
    const calls =
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
    const next = prompt[i + 1];
    const results =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    if (message.role === 'assistant') expect(results).toEqual(calls);
    if (message.role === 'tool') expect(prompt[i - 1]?.role).toBe('assistant');
    expect(canonicalJson(message)).not.toContain('No result of this call is known');
  });
}
