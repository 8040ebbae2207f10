import { visibleText } from '../../base/text/visible-text.ts';
import type { Event } from '../../ledger/event.ts';
import { isSuccess } from '../../ledger/tool-result.ts';
import { EventPlaces } from '../event-places.ts';
import { type ExplainedDecision, explain } from '../explain.ts';

const longestExcerpt = 160;

/** Needs of invocations that wait, by the reason in the ledger. */
const waits = {
  input: 'began to wait for a message',
  tool_input: 'began to wait for an answer',
  sleep: 'began to sleep',
  pause: 'was paused',
} as const;

/** A value in one line, shortened. */
export function excerpt(value: unknown, longest = longestExcerpt): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = visibleText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** Events as sentences. A choice has the words that `explain` gives it. */
export class EventWords {
  readonly #resolve: (value: unknown) => unknown;
  readonly #choices: ReadonlyMap<number, ExplainedDecision>;
  readonly #places: EventPlaces;
  /** Names of the called tools, by `callId`. */
  readonly #tools = new Map<string, string>();

  constructor(events: readonly Event[], resolve: (value: unknown) => unknown) {
    this.#resolve = resolve;
    this.#choices = new Map(explain(events).map((choice) => [choice.seq, choice]));
    this.#places = new EventPlaces(events);
    for (const event of events)
      if (event.type === 'tool_call') this.#tools.set(event.callId, event.name);
  }

  choice({ seq }: Event): ExplainedDecision | undefined {
    return this.#choices.get(seq);
  }

  of(event: Event): string {
    const choice = event.type === 'tool_result' ? undefined : this.choice(event)?.what;
    return choice ?? this.#plain(event, this.#places.of(event).agent ?? 'the session');
  }

  #plain(event: Event, who: string): string {
    switch (event.type) {
      case 'user':
        return `A message came: ${this.#short(event.text ?? event.parts)}`;
      case 'assistant':
        if (event.cut === true) return `${who} began to write: ${this.#short(event.text)}`;
        return `${who} wrote: ${this.#short(event.text)}`;
      case 'thought':
        return `${who} thought: ${this.#short(event.text)}`;
      case 'tool_call':
        return `${who} called the tool ${event.name} with ${this.#short(event.args)}`;
      case 'tool_attempt':
        return `Attempt ${event.attempt} of ${event.tool ?? this.#tools.get(event.callId)} began.`;
      case 'tool_result':
        return this.#result(event);
      case 'model_start':
        return `${who} asked the model ${event.model}, round ${event.round}.`;
      case 'model_end':
        return `The model ended its answer: ${event.status}.`;
      case 'invocation_start':
        return `${who} began.`;
      case 'invocation_yield':
        return `${who} ${waits[event.reason]}.`;
      case 'invocation_resume':
        return `${who} went on.`;
      case 'invocation_end':
        return `${who} ended: ${event.status}.`;
      case 'state_change':
        return `State was changed: ${event.changes.map(({ key }) => key).join(', ')}.`;
      case 'memory':
        return `${who} kept a fact: ${this.#short(event.text)}`;
      default:
        return `${who}: ${event.type.replaceAll('_', ' ')}.`;
    }
  }

  #result({ name, result }: Extract<Event, { type: 'tool_result' }>): string {
    const content = this.#short(result.content);
    return isSuccess(result)
      ? `The tool ${name} gave: ${content}`
      : `The tool ${name} failed (${result.errorType ?? result.status}): ${content}`;
  }

  #short(value: unknown): string {
    return excerpt(this.#resolve(value));
  }
}
