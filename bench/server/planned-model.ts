import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { addInput, instantModel } from '../instant-model.ts';
import { deltasOf, type Plan, planIn } from './plan.ts';

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};

/**
 * A model of the AI SDK's interface that does what its input says: streams stamped deltas, or calls
 * `add` round after round.
 */
export function plannedModel(): LanguageModelV4 {
  const instant = instantModel(() => ({ deltas: ['done'] }));
  return {
    ...instant,
    async doStream(options) {
      const plan = planIn(
        JSON.stringify(options.prompt.filter(({ role }) => role === 'user').at(-1) ?? ''),
      );
      if ('deltas' in plan) return { stream: ReadableStream.from(partsOf(plan)) };
      const rounds = roundsSince(options.prompt);
      if (rounds >= plan.rounds) return instant.doStream(options);
      return { stream: ReadableStream.from(callPart(rounds)) };
    },
  };
}

/** Rounds of the run that is under way. */
function roundsSince(prompt: LanguageModelV4CallOptions['prompt']): number {
  const begin = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(begin).filter(({ role }) => role === 'tool').length;
}

async function* partsOf(
  plan: Extract<Plan, { deltas: number }>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 'text' };
  for await (const delta of deltasOf(plan)) yield { type: 'text-delta', id: 'text', delta };
  yield { type: 'text-end', id: 'text' };
  yield { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage };
}

async function* callPart(round: number): AsyncGenerator<LanguageModelV4StreamPart> {
  yield {
    type: 'tool-call',
    toolCallId: `call_${round}`,
    toolName: 'add',
    input: addInput(round, 0),
  };
  yield { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage };
}
