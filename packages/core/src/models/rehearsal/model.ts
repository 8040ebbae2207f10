import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { estimateTokens } from '../measures/estimate.ts';
import type { Model } from '../model.ts';
import { asTestModel } from '../test-model-mark.ts';
import { Evidence } from './evidence.ts';
import { parseRequests } from './parse-request.ts';
import { type NextStep, planNextStep } from './plan.ts';

/**
 * A model for people without a key: rules, not a language model, and it says so. It understands
 * arithmetic and percentages, the time, listing, reading and searching files, fetching a page, and
 * sums, averages, smallest and largest values and counts of CSV columns with a condition, also
 * several of them in one message. Every number it prints comes from a tool's result. It decides
 * each round from the prompt alone. For anything else it answers what it can do and how to use a
 * real model.
 *
 * It calls the built-in tools by their names (`calculate`, `currentTime`, `listFiles`, `readFile`,
 * `searchFiles`, `queryCsv`, `fetchUrl`) as far as they are offered, and names the one that is
 * missing.
 */
export function rehearsal(): Model {
  return Object.freeze(
    asTestModel({
      kind: 'model' as const,
      provider: 'rehearsal',
      modelId: 'rules',
      settings: Object.freeze({}),
      price: Object.freeze({ input: 0, output: 0 }),
      load: () => rules,
    }),
  );
}

const rules: LanguageModelV4 = asTestModel({
  specificationVersion: 'v4',
  provider: 'rehearsal',
  modelId: 'rules',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('The rehearsal model only streams: call doStream.')),
  doStream: (options: LanguageModelV4CallOptions) =>
    Promise.resolve({ stream: streamOf(partsOf(decide(options), options.prompt)) }),
});

function decide({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): NextStep {
  const offered = toolChoice?.type === 'none' ? [] : tools.map((tool) => tool.name);
  const asked = prompt.findLastIndex(
    (message) => message.role === 'user' && !toldByRuntime.test(textOf(message)),
  );
  const question = prompt[asked];
  return planNextStep(
    question === undefined ? [] : parseRequests(textOf(question)),
    new Evidence(prompt, asked, offered),
  );
}

/** User messages also report the work of other agents; those ask nothing. */
const toldByRuntime = /^\[[^\]]+\] (?:said:|called the tool )|^The tool \S+ (?:returned|failed):/;

function textOf(message: LanguageModelV4Message): string {
  return message.role === 'user'
    ? message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    : '';
}

function partsOf(step: NextStep, prompt: LanguageModelV4Prompt): LanguageModelV4StreamPart[] {
  const content =
    step.kind === 'answer'
      ? textParts(step.text)
      : step.calls.flatMap((call, i) => callParts(call, `${callPrefix(prompt)}${i + 1}`));
  const outputLength =
    step.kind === 'answer' ? step.text.length : JSON.stringify(step.calls).length;
  const input = estimateTokens(JSON.stringify(prompt));
  const output = estimateTokens(outputLength);
  const finish: LanguageModelV4StreamPart = {
    type: 'finish',
    finishReason: { unified: step.kind === 'answer' ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  };
  return [{ type: 'stream-start', warnings: [] }, ...content, finish];
}

/** Ids must differ from those of earlier rounds; the number of messages does. */
function callPrefix(prompt: LanguageModelV4Prompt): string {
  return `rehearsal_${prompt.length}_`;
}

/** Word by word, as a real model streams. */
function textParts(text: string): LanguageModelV4StreamPart[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const deltas = words.map(
    (delta): LanguageModelV4StreamPart => ({ type: 'text-delta', id: 'text', delta }),
  );
  return [{ type: 'text-start', id: 'text' }, ...deltas, { type: 'text-end', id: 'text' }];
}

function callParts(
  call: { readonly name: string; readonly args: object },
  id: string,
): LanguageModelV4StreamPart[] {
  const input = JSON.stringify(call.args);
  return [
    { type: 'tool-input-start', id, toolName: call.name },
    { type: 'tool-input-delta', id, delta: input },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName: call.name, input },
  ];
}

function streamOf(
  parts: readonly LanguageModelV4StreamPart[],
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
