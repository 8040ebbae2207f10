import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { isEnvironmentText } from '../../context/environment.ts';
import type { EncoderTrace } from '../../context/message-encoder.ts';
import type { Event } from '../../ledger/event.ts';
import type { PromptEvent } from '../../runnables/render-context.ts';

/** Kind of a message of a prompt, by what it was made of. */
export type MessageKind =
  | 'instructions'
  | 'environment'
  | 'injected'
  | 'memory'
  | 'summary'
  | 'notes'
  | 'history'
  | 'message';

/** Trace of a prompt: the events that it was made of, and the kind of each message. */
export class PromptTrace implements EncoderTrace {
  readonly #sources = new Map<LanguageModelV4Message, PromptEvent>();
  readonly #events = new Set<PromptEvent>();
  #current: PromptEvent | undefined;

  event(event: PromptEvent): void {
    this.#current = event;
    this.#events.add(event);
  }

  message(message: LanguageModelV4Message): void {
    if (this.#current !== undefined) this.#sources.set(message, this.#current);
  }

  /** True when an event is part of the prompt. */
  has(event: Event): boolean {
    return this.#events.has(event);
  }

  /**
   * Returns the kind of each message, in the order of the prompt.
   * @param replaced texts of messages of the user in the place of which renderers wrote others
   */
  kindsOf(
    messages: readonly LanguageModelV4Message[],
    replaced: readonly string[],
  ): readonly MessageKind[] {
    const sources = messages.map((message) => this.#sources.get(message));
    const rewritten = rewrittenOf(sources, replaced);
    const isAsked = (source: PromptEvent | undefined): boolean =>
      source !== undefined && (isMessage(source) || rewritten.has(source));
    const asked = sources.findLast(isAsked);
    return sources.map((source) => {
      if (source === undefined) return 'history';
      if (source === asked) return 'message';
      return rewritten.has(source) ? 'history' : kindOf(source);
    });
  }
}

/** Returns the written messages that have the text of a replaced one in theirs. */
function rewrittenOf(
  sources: readonly (PromptEvent | undefined)[],
  replaced: readonly string[],
): ReadonlySet<PromptEvent> {
  const rewritten = new Set<PromptEvent>();
  let next = 0;
  for (const source of sources) {
    if (source?.type !== 'synthetic' || source.role !== 'user') continue;
    const found = replaced.findIndex((text, at) => at >= next && source.text.includes(text));
    if (found < 0) continue;
    rewritten.add(source);
    next = found + 1;
  }
  return rewritten;
}

/** True for the events that the agent was given as a message. */
function isMessage({ type }: PromptEvent): boolean {
  return type === 'user' || type === 'rewritten' || type === 'invocation_start';
}

function kindOf(event: PromptEvent): MessageKind {
  switch (event.type) {
    case 'synthetic':
      if (event.role === 'user') return 'injected';
      return isEnvironmentText(event.text) ? 'environment' : 'instructions';
    case 'memory':
      return 'memory';
    case 'compaction':
      return 'summary';
    case 'decision':
      return 'notes';
    case 'tool_result':
      return event.late === true || event.editedArgs !== undefined ? 'notes' : 'history';
    default:
      return 'history';
  }
}
