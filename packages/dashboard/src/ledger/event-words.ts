import { count, duration } from '../components/format.ts';
import { inline } from '../components/visible-text.ts';
import type { LedgerEvent } from './event-pages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the words of an event for one row. Types that the page does not know show their fields. */
export function eventWords(event: LedgerEvent): string {
  return words[event.type]?.(event) ?? inline(withoutFrame(event));
}

const words: Readonly<Record<string, (event: Fields) => string>> = {
  user: ({ text }) => textOf(text),
  assistant: ({ text, output }) => textOf(text === '' && output !== undefined ? output : text),
  thought: ({ text }) => textOf(text),
  memory: ({ text }) => textOf(text),
  tool_call: ({ name, args }) => `${textOf(name)} ${textOf(args)}`,
  tool_attempt: ({ attempt, tool }) =>
    `attempt ${String(attempt)}${tool === undefined ? '' : ` by ${textOf(tool)}`}`,
  tool_result: ({ name, result, durationMs }) => {
    const { status, content } = fieldsOf(result);
    const took =
      typeof durationMs === 'number' && durationMs > 0 ? `, ${duration(durationMs)}` : '';
    return `${textOf(name)} ${textOf(status)}${took} ${textOf(content)}`;
  },
  state_change: ({ changes }) =>
    Array.isArray(changes)
      ? changes.map((change) => textOf(fieldsOf(change)['key'])).join(', ')
      : '',
  decision: ({ component, decision, reasoning }) =>
    `${textOf(component)} · ${textOf(decision)}: ${textOf(reasoning)}`,
  model_start: ({ agent, round, model, estimatedInputTokens }) =>
    `${textOf(agent)}, round ${String(round)} · ${textOf(model)} · ${tokens(estimatedInputTokens)} in`,
  model_end: ({ status, usage, cost, durationMs, error }) => {
    const { inputTokens, outputTokens } = fieldsOf(usage);
    const parts = [
      status === 'completed' ? undefined : textOf(status),
      `${tokens(inputTokens)} in, ${tokens(outputTokens)} out`,
      typeof durationMs === 'number' ? duration(durationMs) : undefined,
      typeof cost === 'number' ? `$${cost.toFixed(4)}` : undefined,
      error === undefined ? undefined : textOf(fieldsOf(error)['message']),
    ];
    return parts.filter((part) => part !== undefined).join(' · ');
  },
  tool_yield: ({ request, name }) => textOf(fieldsOf(request)['summary'] ?? name),
  tool_input: ({ decision, reason, by }) =>
    `${textOf(decision ?? 'answered')} by ${textOf(by)}${reason === undefined ? '' : `: ${textOf(reason)}`}`,
  invocation_start: ({ kind, name, mode }) => `${textOf(kind)} ${textOf(name)}, ${textOf(mode)}`,
  invocation_end: ({ status, output, error }) =>
    error === undefined
      ? `${textOf(status)}${output === undefined ? '' : ` ${textOf(output)}`}`
      : `${textOf(status)}: ${textOf(fieldsOf(error)['message'])}`,
  invocation_yield: ({ reason }) => `waits: ${textOf(reason)}`,
  invocation_resume: () => 'goes on in another process',
  handoff: ({ from, to }) => `${textOf(from)} → ${textOf(to)}`,
  compaction: ({ tokensBefore, tokensAfter }) => `${tokens(tokensBefore)} → ${tokens(tokensAfter)}`,
  cancel: ({ reason, by }) =>
    `by ${textOf(by)}${reason === undefined ? '' : `: ${textOf(reason)}`}`,
  unreadable: ({ reason }) => `cannot be read by this version: ${textOf(reason)}`,
};

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  const { $blob, preview } = fieldsOf(value);
  return inline($blob === undefined ? value : preview);
}

function tokens(value: unknown): string {
  return typeof value === 'number' ? `${count(value)} tokens` : 'unknown tokens';
}

const frame: ReadonlySet<string> = new Set(['v', 'seq', 'id', 'at', 'type', 'invocationId', 'by']);

function withoutFrame(event: Fields): Fields {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !frame.has(name)));
}
