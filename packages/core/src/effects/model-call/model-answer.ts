import type { JsonValue } from '../../base/json.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { ModelAnswer, ModelText, ModelToolCall } from '../../models/answer.ts';
import type { StepEvent, SubstituteAnswer } from '../../runnables/hooks.ts';

/** Answer of a model in the form in which it is recorded. */
export interface ProcessedAnswer {
  readonly answer: ModelAnswer;
  /** Output of the answer, parsed by the output schema. */
  readonly parsed?: JsonValue | undefined;
  /** State that hooks have written, appended before the answer. */
  readonly before: readonly EventDraft[];
  /** Decisions about the answer, appended after it. */
  readonly decisions: readonly EventDraft[];
  readonly extras: BatchExtras | undefined;
}

/** Answer that replaces the answer of a model. */
export interface GivenAnswer {
  readonly answer: ModelAnswer;
  readonly substitutedBy: string;
  /** True when the agent ends with this answer, provided that it asks for no tools. */
  readonly terminal: boolean;
}

/**
 * Returns the parts of an answer as hooks see them. Parts that hooks leave unchanged keep the data
 * that only the provider understands.
 */
export function stepEventsOf(
  { thoughts, texts, toolCalls }: ModelAnswer,
  toolName: (wireName: string) => string,
): readonly StepEvent[] {
  const remember = (event: StepEvent, part: ModelText | ModelToolCall): StepEvent => {
    parts.set(event, part);
    return Object.freeze(event);
  };
  return Object.freeze([
    ...thoughts.map((part) => remember({ type: 'thought', text: part.text }, part)),
    ...texts.map((part) => remember({ type: 'assistant', text: part.text }, part)),
    ...toolCalls.map((part) =>
      remember({ type: 'tool_call', name: toolName(part.name), args: part.args }, part),
    ),
  ]);
}

const parts = new WeakMap<StepEvent, ModelText | ModelToolCall>();

/**
 * Returns the answer that these parts make. New parts carry no data for the provider.
 * @param callId prefix of the ids of calls that no provider has named
 */
export function answerOfSteps(
  steps: readonly StepEvent[],
  callId: string,
  base?: ModelAnswer,
): ModelAnswer {
  const thoughts: ModelText[] = [];
  const texts: ModelText[] = [];
  const toolCalls: ModelToolCall[] = [];
  for (const step of steps) {
    const known = parts.get(step);
    if (step.type === 'tool_call') {
      toolCalls.push(
        (known as ModelToolCall | undefined) ?? {
          providerCallId: `${callId}_${toolCalls.length}`,
          name: step.name,
          args: step.args,
        },
      );
    } else
      (step.type === 'thought' ? thoughts : texts).push(
        (known as ModelText | undefined) ?? { text: step.text },
      );
  }
  return {
    usage: undefined,
    finishReason: toolCalls.length > 0 ? 'tool-calls' : 'stop',
    firstPartAt: undefined,
    ...base,
    thoughts,
    texts,
    toolCalls,
  };
}

const noUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** Returns an answer that did not come from a model, with a usage of zero. */
export function givenAnswer(
  { stepEvents, terminal = true }: SubstituteAnswer,
  substitutedBy: string,
  callId: string,
): GivenAnswer {
  return {
    answer: { ...answerOfSteps(stepEvents, callId), usage: noUsage },
    substitutedBy,
    terminal,
  };
}
