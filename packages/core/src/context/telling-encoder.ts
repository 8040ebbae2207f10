import type { JSONValue, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { EventOf } from '../ledger/event.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { lengthOf, type RoundEvent } from './message-encoder.ts';
import { NotingEncoder } from './noting-encoder.ts';
import { truncateText } from './truncate.ts';

/** Confidence below which a result carries a warning not to rely on it. */
const lowConfidence = 0.5;

/**
 * Encoder version 3: version 2, with more information for the model. A result names the outcome of
 * its call and the notes of supervision. Added messages hold decisions about the agent, its input
 * data, facts, and summaries of compactions. Answers of a model other than the one that receives
 * the prompt lose their reasoning. They also lose the metadata that only the provider of that model
 * can read. A plain success reads as before. Frozen like the earlier versions.
 */
export class TellingEncoder extends NotingEncoder {
  override push(event: PromptEvent, native: boolean): void {
    switch (event.type) {
      case 'memory':
        this.#tell(`Remember: ${String(this.options.resolve(event.text))}`);
        break;
      case 'decision':
        // A decision about another agent is nothing that this one could act on.
        if (native) this.#tell(String(this.options.resolve(event.tell)));
        break;
      case 'invocation_start':
        super.push(event, native);
        if (event.input?.data !== undefined)
          this.#tell(JSON.stringify(this.options.resolve(event.input.data)));
        break;
      case 'compaction':
        this.#tell(String(this.options.resolve(event.summary)));
        break;
      case 'thought':
      case 'assistant':
      case 'tool_call':
        this.#pushAnswer(event, native);
        break;
      default:
        super.push(event, native);
    }
  }

  /** Adds an answer; ids and signed reasoning of one model are refused by every other. */
  #pushAnswer(event: RoundEvent, native: boolean): void {
    const { answeredBy, model } = this.options;
    const isReadByAll = event.type !== 'thought' && event.providerMetadata === undefined;
    if (!native || isReadByAll || answeredBy?.(event) === model) super.push(event, native);
    else if (event.type !== 'thought') super.push(withoutMetadata(event), native);
  }

  #tell(text: string): void {
    super.push({ type: 'synthetic', role: 'user', text }, false);
  }

  protected override output(event: EventOf<'tool_result'>): LanguageModelV4ToolResultOutput {
    const { result, callId } = event;
    const limit = this.options.resultLimit;
    const content = this.options.resolve(result.content);
    const remarks = this.#remarksOn(event);
    if (
      result.status === 'success' &&
      remarks.length === 0 &&
      typeof content !== 'string' &&
      lengthOf(content) <= limit
    ) {
      // The ledger types JSON as read-only, the provider does not.
      return { type: 'json', value: content as JSONValue };
    }
    const whole = typeof content === 'string' ? content : JSON.stringify(content);
    const text = truncateText(
      whole,
      limit,
      ` The whole result has ${whole.length} characters. Call id: ${callId}`,
    );
    const head =
      result.status === 'success' ? text : `[${result.status}]${text === '' ? '' : ` ${text}`}`;
    return {
      type: isSuccess(result) ? 'text' : 'error-text',
      value: [head, ...remarks].join('\n'),
    };
  }

  #remarksOn({ result, notes }: EventOf<'tool_result'>): string[] {
    const { errorType, alternatives = [], confidence = 1 } = result;
    const remarks: string[] = [];
    if (errorType !== undefined) remarks.push(`Error type: ${errorType}`);
    if (alternatives.length > 0) remarks.push(`Instead: ${alternatives.join('; ')}`);
    if (notes !== undefined)
      for (const note of notes) remarks.push(String(this.options.resolve(note)));
    if (confidence < lowConfidence)
      remarks.push('[Low confidence: check this before you rely on it.]');
    return remarks;
  }
}

function withoutMetadata<Answer extends EventOf<'assistant'> | EventOf<'tool_call'>>(
  event: Answer,
): Answer {
  const { providerMetadata: _providerMetadata, ...rest } = event;
  return rest as Answer;
}
