import type { ServerPrompt } from '@adjutant/server/client';
import type { Copied } from '../../../components/copy/copied-text.ts';
import { count } from '../../../components/format.ts';
import { visible } from '../../../components/visible-text.ts';
import { fieldsOf } from '../../../ledger/event-words.ts';

/** Kind of event whose colour a section has. */
const colours: Readonly<Record<string, string>> = {
  instructions: 'control',
  environment: 'control',
  tools: 'tool',
  injected: 'decision',
  memory: 'state',
  summary: 'decision',
  notes: 'wait',
  history: 'model',
  message: 'message',
  settings: 'control',
};

export function colourOf(section: string): string {
  return colours[section] ?? 'control';
}

const longest = 20_000;

/** Words of an item of a prompt: a message, a tool or the settings. */
export function itemWords(item: unknown): string {
  const { role, content, name, description } = fieldsOf(item);
  if (typeof role === 'string') return cut(`${role}: ${contentWords(content)}`);
  if (typeof name === 'string')
    return cut(`${name}${typeof description === 'string' ? ` – ${description}` : ''}`);
  return cut(JSON.stringify(item, null, 2) ?? '');
}

function contentWords(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content) ?? '';
  return content.map(partWords).join('\n');
}

function partWords(part: unknown): string {
  const { type, text, toolName, input, output } = fieldsOf(part);
  if (typeof text === 'string') return text;
  if (type === 'tool-call') return `${String(toolName)}(${JSON.stringify(input)})`;
  if (type === 'tool-result')
    return `${String(toolName)} → ${JSON.stringify(fieldsOf(output)['value'] ?? output)}`;
  return JSON.stringify(part) ?? '';
}

function cut(text: string): string {
  return visible(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

/** A prompt as it is copied: its sections for people, and the exact call. */
export function copiedPrompt(session: string, prompt: ServerPrompt): Copied {
  const { seq, agent, model, round, tokens, sections, call } = prompt;
  const text = sections
    .map(({ title, messages = [], tools = [], settings }) => {
      const items = [...messages, ...tools, ...(settings === undefined ? [] : [settings])];
      return [`== ${title}`, ...items.map(itemWords)].join('\n');
    })
    .join('\n\n');
  return {
    title: `Prompt of ${agent}, round ${round}`,
    facts: [
      ['Session', `${session} #${seq}`],
      ['Model', model],
      ['Tokens, estimated', count(tokens)],
    ],
    text,
    data: call,
    request: { path: ['sessions', session, 'prompts', String(seq)] },
  };
}
