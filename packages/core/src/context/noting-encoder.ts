import type { EventOf } from '../ledger/event.ts';
import { isLateNews } from '../ledger/late-news.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { MessageEncoder } from './message-encoder.ts';
import { truncateText } from './truncate.ts';

/** Maximum length in characters of the arguments that a note repeats. */
const longestNotedArgs = 500;

/**
 * Encoder version 2: version 1, with notes about late results and edited arguments. The first says
 * that a released call has brought its result after all. The second says that a person changed the
 * arguments of a call before it was run. Both are messages: every provider allows one result per
 * call, and the arguments are the model's. Frozen like version 1.
 */
export class NotingEncoder extends MessageEncoder {
  readonly #calls = new Map<string, EventOf<'tool_call'>>();

  override push(event: PromptEvent, native: boolean): void {
    if (event.type === 'tool_call') this.#calls.set(event.callId, event);
    if (event.type !== 'tool_result' || event.late !== true) super.push(event, native);
    else if (isLateNews(event))
      super.push({ type: 'synthetic', role: 'user', text: this.#note(event) }, native);
    if (
      event.type === 'tool_result' &&
      event.settled &&
      event.editedArgs !== undefined &&
      this.#calls.has(event.callId)
    ) {
      super.push({ type: 'synthetic', role: 'user', text: this.#editNote(event) }, native);
    }
  }

  #editNote({ name, editedArgs }: EventOf<'tool_result'>): string {
    const args = truncateText(JSON.stringify(this.options.resolve(editedArgs)), longestNotedArgs);
    return (
      `The arguments of the call of the tool ${name} were changed by a person before it was ` +
      `run. It was run with ${args}`
    );
  }

  #note({ callId, name, result }: EventOf<'tool_result'>): string {
    const { resolve, resultLimit } = this.options;
    const call = this.#calls.get(callId);
    const args =
      call === undefined
        ? ''
        : ` with ${truncateText(JSON.stringify(resolve(call.args)), longestNotedArgs)}`;
    const content = resolve(result.content);
    const text = truncateText(
      typeof content === 'string' ? content : JSON.stringify(content),
      resultLimit,
    );
    return (
      `The call of the tool ${name}${args}, which was given up before, has ended since: it ` +
      `${isSuccess(result) ? 'returned' : 'failed without an effect'}: ${text}`
    );
  }
}
