import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { agent, memoryStore, runtime, type Session, tool } from 'adjutant';
import { includeHistory, promptAt, pruneReasoning, selectRecentEvents } from 'adjutant/context';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect, test } from 'vitest';
import { z } from 'zod';

const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => 'seen',
});

/** A model whose parts carry what only its provider can read. */
function signing(scripted: ScriptedModel): LanguageModelV4 {
  const sign = (part: LanguageModelV4StreamPart): LanguageModelV4StreamPart =>
    part.type === 'reasoning-end' || part.type === 'text-end' || part.type === 'tool-call'
      ? {
          ...part,
          providerMetadata: { [scripted.modelId]: { signature: `signed by ${scripted.modelId}` } },
        }
      : part;
  return {
    ...scripted,
    async doStream(options) {
      const { stream, ...rest } = await scripted.doStream(options);
      const signed = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(sign(part)),
      });
      return { ...rest, stream: stream.pipeThrough(signed) };
    },
  };
}

const asks = { thoughts: 'I look.', text: 'Looking.', toolCalls: [{ name: 'look', args: {} }] };
const bytesOf = (call: object): string =>
  canonicalJson(
    JSON.parse(JSON.stringify({ ...call, abortSignal: undefined, headers: undefined })),
  );

function expectExact(session: Session, models: readonly ScriptedModel[]): void {
  const starts = session.events.filter(({ type }) => type === 'model_start');
  const shown = starts.map((_start, index) => bytesOf(promptAt(session, index + 1)));
  expect(shown.toSorted()).toEqual(models.flatMap(({ calls }) => calls.map(bytesOf)).toSorted());
}

test.each([
  ['the whole history', undefined],
  ['chosen events', [includeHistory(), selectRecentEvents(50)]],
  ['a history without reasoning', [includeHistory(), pruneReasoning()]],
])(
  'what only one provider can read is not sent to the model that stands in for it: %s',
  async (name, context) => {
    const first = scriptedModel([asks, { error: new Error('gone') }], { modelId: 'first' });
    const second = scriptedModel(
      [
        { ...asks, toolCalls: [{ name: 'look', args: {}, providerCallId: 'other_1' }] },
        { text: 'done' },
      ],
      {
        modelId: 'second',
      },
    );
    const looking = agent({
      name: 'a',
      model: [signing(first), signing(second)],
      tools: [look],
      ...(context === undefined ? {} : { context }),
    });
    const { session, output } = await runtime({ app: 'signed', store: memoryStore() }).run(
      looking,
      'Go',
    );
    expect(output).toBe('done');
    const sent = (model: ScriptedModel, call: number) => JSON.stringify(model.calls[call]?.prompt);
    expect(sent(first, 1)).toContain('signed by first');
    expect(sent(second, 0)).toContain('Looking.');
    for (const call of [0, 1]) expect(sent(second, call)).not.toContain('signed by first');
    expect(sent(second, 1)).toContain('signed by second');
    const thoughts = second.calls[1]?.prompt.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'reasoning'),
    );
    expect(thoughts?.length).toBe(name.endsWith('without reasoning') ? 0 : 1);
    expectExact(session, [first, second]);
  },
);

test(
  'an agent that has another model in its next run does not send what the former ' + 'one signed',
  async () => {
    const store = memoryStore();
    const first = scriptedModel([asks, { text: 'done' }], { modelId: 'first' });
    const second = scriptedModel([{ text: 'done' }], { modelId: 'second' });
    await runtime({ app: 'signed', store }).run(
      agent({ name: 'a', model: signing(first), tools: [look] }),
      { session: 's', input: 'Go' },
    );
    const { session } = await runtime({ app: 'signed', store }).run(
      agent({ name: 'a', model: signing(second), tools: [look] }),
      {
        session: 's',
        input: 'Again',
      },
    );
    expect(JSON.stringify(second.calls[0]?.prompt)).not.toContain('signed');
    expectExact(session, [first, second]);
  },
);
