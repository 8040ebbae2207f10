import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { describeValue, findInvalidOption, type OptionCheck } from '../../base/options.ts';
import { InvalidModelError } from '../errors.ts';
import { type Model, type ModelInput, modelName, toModel } from '../model.ts';
import { isNamedModel, modelOf, wrongName } from '../named-model.ts';
import type { TextExample } from './instructions.ts';
import { TextAnswer } from './text-answer.ts';
import { speaksProtocol, textPrompt } from './text-prompt.ts';

export interface TextProtocolOptions {
  /**
   * Conversations that show the model how it is done; small models need one or two. @default none
   */
  readonly examples?: readonly TextExample[];
}

/**
 * A model that cannot call tools, made to call them: they are described to it, and it writes
 * `Thought:`, `Action:` and `Final Answer:`, which are read back as thoughts, calls and text. Loop,
 * ledger and stream are the same as with any model. An action that cannot be read becomes a call
 * that fails, so that the model is told. Tools that the provider runs itself are left out.
 * `textPrompt` shows the request to the model.
 * @param input the model, or its name
 * @throws InvalidModelError
 */
export function textProtocol(input: ModelInput | string, options: TextProtocolOptions = {}): Model {
  const wrongModel = isNamedModel(input);
  const reason =
    wrongModel === undefined
      ? wrongName(input)
      : `it must be ${wrongModel}, not ${describeValue(input)}`;
  if (reason !== undefined) throw new InvalidModelError({ model: 'of textProtocol()', reason });
  const model = toModel(modelOf(input));
  const wrong = findInvalidOption(options, { examples: isListOfExamples });
  if (wrong !== undefined)
    throw new InvalidModelError({ model: modelName(model), reason: wrong.reason });
  return speaking(model, options.examples ?? []);
}

const isListOfExamples: OptionCheck = (value) => {
  const isExample = (one: Partial<TextExample> | null) =>
    typeof one?.question === 'string' &&
    typeof one.answer === 'string' &&
    Array.isArray(one.steps) &&
    one.steps.every(
      (step: Partial<TextExample['steps'][number]> | null) =>
        typeof step?.tool === 'string' && step.observation !== undefined,
    );
  return Array.isArray(value) && value.every(isExample)
    ? undefined
    : 'a list of { question, steps: [{ thought, tool, arguments, observation }], answer }';
};

function speaking(model: Model, examples: readonly TextExample[]): Model {
  const wrap = onceEach((inner: LanguageModelV4) => speakingModel(inner, examples));
  const variantOf = onceEach((inner: Model) => speaking(inner, examples));
  const { variants } = model;
  return Object.freeze({
    ...model,
    ...(variants === undefined
      ? {}
      : {
          variants: Object.freeze({
            ...variants,
            make: (choice) => variantOf(variants.make(choice)),
          } as typeof variants),
        }),
    load: () => {
      const inner = model.load();
      return inner instanceof Promise ? inner.then(wrap) : wrap(inner);
    },
  });
}

/** Values made once for each object. */
function onceEach<In extends object, Out>(make: (input: In) => Out): (input: In) => Out {
  const made = new WeakMap<In, Out>();
  return (input) => {
    const known = made.get(input);
    if (known !== undefined) return known;
    const output = make(input);
    made.set(input, output);
    return output;
  };
}

function speakingModel(inner: LanguageModelV4, examples: readonly TextExample[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: inner.provider,
    modelId: inner.modelId,
    supportedUrls: inner.supportedUrls,
    async doGenerate(options) {
      if (!speaksProtocol(options)) return inner.doGenerate(options);
      return readWhole(await inner.doGenerate(textPrompt(options, examples)), options);
    },
    async doStream(options) {
      if (!speaksProtocol(options)) return inner.doStream(options);
      const result = await inner.doStream(textPrompt(options, examples));
      return { ...result, stream: result.stream.pipeThrough(reading(options)) };
    },
  };
}

/** Turns the text of the stream into thoughts, calls and text; everything else passes through. */
function reading(
  options: LanguageModelV4CallOptions,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  let answer: TextAnswer;
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    start(controller) {
      answer = new TextAnswer(options, (part) => controller.enqueue(part));
    },
    transform(part, controller) {
      if (part.type === 'text-delta') answer.push(part.delta);
      else if (part.type === 'finish') {
        const finishReason = answer.end(part.finishReason);
        controller.enqueue({ ...part, finishReason });
      } else if (part.type !== 'text-start' && part.type !== 'text-end') controller.enqueue(part);
    },
  });
}

async function readWhole(
  result: LanguageModelV4GenerateResult,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const parts: LanguageModelV4StreamPart[] = [];
  const answer = new TextAnswer(options, (part) => parts.push(part));
  for (const part of result.content) if (part.type === 'text') answer.push(part.text);
  const finishReason = answer.end(result.finishReason);
  const content = [...result.content.filter(({ type }) => type !== 'text'), ...contentOf(parts)];
  return { ...result, content, finishReason };
}

function contentOf(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4Content[] {
  const blocks = new Map<string, { type: 'text' | 'reasoning'; text: string }>();
  const content: LanguageModelV4Content[] = [];
  for (const part of parts) {
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block = {
        type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
        text: '',
      };
      blocks.set(part.id, block);
      content.push(block);
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const block = blocks.get(part.id);
      if (block !== undefined) block.text += part.delta;
    } else if (part.type === 'tool-call') content.push(part);
  }
  return content;
}
