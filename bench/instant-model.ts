import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

/**
 * Answer of an instant model to its nth call, from 0: a number of calls of the tool `add`, or a
 * text in deltas.
 */
export type Answer = { readonly calls: number } | { readonly deltas: readonly string[] };

/**
 * A model of the AI SDK's interface that answers at once, so that everything measured is the
 * framework's.
 */
export interface InstantModel extends LanguageModelV4 {
  /** `performance.now()` at which each call came in; kept only when asked for. */
  readonly calledAt: readonly number[];
  /** `performance.now()` just before the first delta of the last call was handed over. */
  readonly firstDeltaAt: number;
}

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};
/**
 * Other arguments for each call, of one length: equal calls would be a loop, which supervision
 * ends.
 */
export function addInput(call: number, index: number): string {
  return `{"a":${1_000 + call},"b":${index + 1}}`;
}

/**
 * Answers of an instant model, by the number of the call, from 0, and by whose the last message of
 * the prompt is.
 */
export type Answering = (call: number, last: 'tool' | 'other') => Answer;

export function instantModel(
  answer: Answering,
  options: { readonly keepTimes?: boolean } = {},
): InstantModel {
  const calledAt: number[] = [];
  let calls = 0;
  let firstDeltaAt = 0;
  const next = ({ prompt }: Pick<LanguageModelV4CallOptions, 'prompt'>): Answer => {
    if (options.keepTimes === true) calledAt.push(performance.now());
    return answer(calls++, prompt.at(-1)?.role === 'tool' ? 'tool' : 'other');
  };
  return {
    specificationVersion: 'v4',
    provider: 'instant',
    modelId: 'instant',
    supportedUrls: {},
    calledAt,
    get firstDeltaAt() {
      return firstDeltaAt;
    },
    async doGenerate(call) {
      const given = next(call);
      return {
        content: contentOf(given, calls),
        finishReason: finishReasonOf(given),
        usage,
        warnings: [],
      };
    },
    async doStream(options) {
      const given = next(options);
      const call = calls;
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          firstDeltaAt = performance.now();
          for (const part of partsOf(given, call)) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

function finishReasonOf(answer: Answer) {
  return {
    unified: 'calls' in answer ? ('tool-calls' as const) : ('stop' as const),
    raw: undefined,
  };
}

function contentOf(answer: Answer, call: number): LanguageModelV4Content[] {
  if ('deltas' in answer) return [{ type: 'text', text: answer.deltas.join('') }];
  return Array.from({ length: answer.calls }, (_, i) => toolCall(call, i));
}

function toolCall(call: number, index: number) {
  return {
    type: 'tool-call' as const,
    toolCallId: `call_${call}_${index}`,
    toolName: 'add',
    input: addInput(call, index),
  };
}

function* partsOf(answer: Answer, call: number): Generator<LanguageModelV4StreamPart> {
  if ('deltas' in answer) {
    yield { type: 'text-start', id: 'text' };
    for (const delta of answer.deltas) yield { type: 'text-delta', id: 'text', delta };
    yield { type: 'text-end', id: 'text' };
  } else for (let i = 0; i < answer.calls; i++) yield toolCall(call, i);
  yield { type: 'finish', finishReason: finishReasonOf(answer), usage };
}

/** Answers that call `add` in each of `rounds` rounds, `calls` times at once, and then end. */
export function roundsOf(rounds: number, calls: number): (call: number) => Answer {
  const working: Answer = { calls };
  const done: Answer = { deltas: ['done'] };
  return (call) => (call < rounds ? working : done);
}

/** Calls `add` once and then ends, in any process that goes on with the conversation. */
export const oneCall: Answering = (_call, last) =>
  last === 'tool' ? { deltas: ['done'] } : { calls: 1 };
