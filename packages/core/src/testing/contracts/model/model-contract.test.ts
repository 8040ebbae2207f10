import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { rehearsal } from 'adjutant';
import {
  type ModelScript,
  type ModelUnderTest,
  modelContract,
  type ScriptedResponse,
  scriptedModel,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { defined } from '../../../base/defined.ts';

function responseTo({
  text,
  thoughts,
  toolCalls,
  finishReason,
  usage,
  failsWith,
  ends,
}: ModelScript): ScriptedResponse {
  if (failsWith !== undefined)
    return { error: Object.assign(new Error(`HTTP ${failsWith}`), { statusCode: failsWith }) };
  return {
    ...(text && { chunks: ends === 'never' ? [...text, 'never'] : text }),
    ...(ends === 'never' ? { chunkDelayMs: 60_000 } : {}),
    ...(ends === 'broken' ? { cut: true } : {}),
    ...defined({ thoughts }),
    ...(toolCalls && { toolCalls }),
    ...(finishReason && { finishReason }),
    ...(usage && { usage }),
  };
}

function scripted(): ModelUnderTest {
  const waiting: ModelScript[] = [];
  return {
    model: scriptedModel(() => responseTo(waiting.shift() ?? { text: ['Rain.'] })),
    respond: (...scripts) => void waiting.push(...scripts),
  };
}

await modelContract('scripted', scripted);
await modelContract('rehearsal', () => ({ model: rehearsal() }));

type Stream = ReadableStream<LanguageModelV4StreamPart>;
interface Breakage {
  /** Changes the options of a call. */
  readonly asks?: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions;
  /** Changes the stream: returns the parts in the place of each part. */
  readonly part?: (
    part: LanguageModelV4StreamPart,
    call: number,
  ) => readonly LanguageModelV4StreamPart[];
  readonly stream?: (stream: Stream, call: number) => Promise<Stream> | Stream;
  readonly fails?: (error: unknown) => Promise<{ stream: Stream }>;
}

const nothing: Stream = new ReadableStream({ start: (controller) => controller.close() });

/** Makes the scripted model with one fault. */
function broken({
  asks = (options) => options,
  part,
  stream = (given) => given,
  fails,
}: Breakage): () => ModelUnderTest {
  return () => {
    const { model, ...rest } = scripted();
    const given = model as LanguageModelV4;
    let calls = 0;
    const doStream: LanguageModelV4['doStream'] = async (options) => {
      const call = calls++;
      let found: { stream: Stream };
      try {
        found = await given.doStream(asks(options));
      } catch (error) {
        if (fails === undefined) throw error;
        return fails(error);
      }
      const changed = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (one, controller) => {
          for (const instead of part?.(one, call) ?? [one]) controller.enqueue(instead);
        },
      });
      return { stream: await stream(found.stream.pipeThrough(changed), call) };
    };
    return {
      ...rest,
      model: {
        ...given,
        specificationVersion: 'v4',
        provider: 'broken',
        modelId: 'broken',
        supportedUrls: {},
        doGenerate: given.doGenerate,
        doStream,
      },
    };
  };
}

/** Returns the names of the rules that a model breaks. */
async function failures(make: () => ModelUnderTest): Promise<readonly string[]> {
  const defined: { name: string; run: (...context: unknown[]) => Promise<void> }[] = [];
  const define = (name: string, run: (...context: unknown[]) => Promise<void>): void =>
    void defined.push({ name, run });
  await modelContract('broken', make, {
    timeoutMs: 500,
    runner: { describe: (_name, inner) => inner(), test: define },
  });
  const found: string[] = [];
  for (const { name, run } of defined) {
    await run({ skip: () => undefined }).catch(() => found.push(name));
  }
  return found;
}

let latest = 0;

test.each<[fault: string, breakage: Breakage, caught: string]>([
  [
    'blocks have no end',
    { part: (one) => (one.type === 'text-end' ? [] : [one]) },
    'streams the text in order, between a start and an end, with one finish behind it',
  ],
  [
    'the finish comes twice',
    { part: (one) => (one.type === 'finish' ? [one, one] : [one]) },
    'streams the text in order, between a start and an end, with one finish behind it',
  ],
  [
    'the finish is missing',
    { part: (one) => (one.type === 'finish' ? [] : [one]) },
    'may be empty',
  ],
  [
    'deltas come before their block begins',
    {
      part: (one) =>
        one.type === 'text-start' ? [{ type: 'text-delta', id: 'text', delta: '' }, one] : [one],
    },
    'streams the text in order, between a start and an end, with one finish behind it',
  ],
  [
    'a character is lost',
    {
      part: (one) =>
        one.type === 'text-delta' ? [{ ...one, delta: one.delta.replace('👋', '?') }] : [one],
    },
    'streams the text in order, between a start and an end, with one finish behind it',
  ],
  [
    'thoughts are a part of the text',
    {
      part: (one) =>
        one.type.startsWith('reasoning')
          ? [{ ...one, type: one.type.replace('reasoning', 'text') } as LanguageModelV4StreamPart]
          : [one],
    },
    'streams its thoughts apart from the text, before it',
  ],
  [
    'every end is a stop',
    {
      part: (one) =>
        one.type === 'finish'
          ? [{ ...one, finishReason: { unified: 'stop', raw: undefined } }]
          : [one],
    },
    'says why it ended',
  ],
  [
    'usage adds up over calls',
    {
      part: (one, call) =>
        one.type === 'finish'
          ? [
              {
                ...one,
                usage: {
                  ...one.usage,
                  inputTokens: {
                    ...one.usage.inputTokens,
                    total: (one.usage.inputTokens.total ?? 0) + call,
                  },
                },
              },
            ]
          : [one],
    },
    'says what it used, of this call and not of all',
  ],
  [
    'all calls have one id',
    { part: (one) => ('toolCallId' in one ? [{ ...one, toolCallId: 'call' }] : [one]) },
    'of one answer keep their order and have ids of their own, also over several answers',
  ],
  [
    'ids begin anew with each answer, and calls get lost',
    { part: (one) => (one.type === 'tool-call' && one.input.includes('Oslo') ? [] : [one]) },
    'of one answer keep their order and have ids of their own, also over several answers',
  ],
  [
    'broken arguments are repaired',
    {
      part: (one) =>
        one.type === 'tool-call'
          ? [{ ...one, input: one.input.endsWith('}') ? one.input : '{}' }]
          : [one],
    },
    'with arguments that are no JSON come as they are: what is to be done with them is ' +
      'decided elsewhere',
  ],
  [
    'the prompt is changed',
    {
      asks: (options) =>
        Object.assign(options, { prompt: [...options.prompt, { role: 'user', content: [] }] }),
    },
    'changes nothing of what it is given',
  ],
  [
    'the abort signal is not passed on',
    { asks: ({ abortSignal: _abortSignal, ...options }) => options, stream: (given) => given },
    'before the call keeps it from being made',
  ],
  [
    'a failure is an empty answer',
    { fails: () => Promise.resolve({ stream: nothing }) },
    'of the request is an error of this call, with its status, and the next call is answered',
  ],
  [
    'the status of a failure is lost',
    { fails: () => Promise.reject(new Error('It did not work.')) },
    'of the request is an error of this call, with its status, and the next call is answered',
  ],
  [
    'a lost connection is a stop',
    {
      stream: async (given) => {
        const parts: LanguageModelV4StreamPart[] = [];
        for await (const one of given) parts.push(one);
        const end: LanguageModelV4StreamPart = {
          type: 'finish',
          finishReason: { unified: 'stop', raw: undefined },
          usage: {
            inputTokens: {
              total: 1,
              noCache: undefined,
              cacheRead: undefined,
              cacheWrite: undefined,
            },
            outputTokens: { total: 1, text: undefined, reasoning: undefined },
          },
        };
        const all = parts.some(({ type }) => type === 'finish' || type === 'error')
          ? parts
          : [...parts, end];
        return new ReadableStream({
          start: (controller) => {
            for (const one of all) controller.enqueue(one);
            controller.close();
          },
        });
      },
    },
    'of the connection does not look like an end',
  ],
  [
    'a new call takes the stream of the one before it over',
    {
      part: (one, call) => {
        latest = Math.max(latest, call);
        return one.type === 'text-delta' && call < latest ? [] : [one];
      },
    },
    'is apart from those beside it',
  ],
])('it finds a model of which %s', async (_fault, breakage, caught) => {
  latest = 0;
  expect(await failures(broken(breakage))).toContain(caught);
});

test('options that do not fit are refused', async () => {
  await expect(modelContract('x', scripted, { skip: { abort: true } as never })).rejects.toThrow(
    'a reason',
  );
  await expect(modelContract('x', scripted, { skip: { tools: 'no' } as never })).rejects.toThrow(
    'an object without `tools`',
  );
  await expect(modelContract('x', undefined as never)).rejects.toThrow('make');
});
