import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isSensitiveKey } from '../../base/text/sensitive-keys.ts';
import { lengthOf } from '../../context/message-encoder.ts';
import type { MessageKind } from './message-kinds.ts';

export type PromptSectionName = MessageKind | 'tools' | 'settings';

/** Tool that a call offers, as its provider receives it. */
export type OfferedTool = NonNullable<LanguageModelV4CallOptions['tools']>[number];

/** First and last of neighbouring places. */
export type PlaceRange = readonly [first: number, last: number];

/** Part of a prompt. It has `messages`, `tools` or `settings`. */
export interface PromptSection {
  readonly name: PromptSectionName;
  readonly title: string;
  /** Estimated as for budgets: from the characters, corrected by the last reported count. */
  readonly tokens: number;
  /** Part of the tokens of the prompt, from 0 to 1. */
  readonly share: number;
  /** Places of its messages in the prompt, from 0; missing when it has no messages. */
  readonly at?: readonly PlaceRange[];
  readonly messages?: readonly LanguageModelV4Message[];
  readonly tools?: readonly OfferedTool[];
  /** Everything else of the call. Values under the names of secrets are hidden. */
  readonly settings?: JsonObject;
}

const titles: Readonly<Record<PromptSectionName, string>> = {
  instructions: 'Instructions',
  environment: 'Environment',
  tools: 'Tools',
  injected: 'Injected messages',
  memory: 'Facts',
  summary: 'Summary',
  notes: 'Notes of the runtime',
  history: 'History',
  message: 'Message',
  settings: 'Settings',
};

/** Names of the sections, in the order in which they are listed. */
const names = Object.keys(titles) as readonly PromptSectionName[];

type Content = Pick<PromptSection, 'at' | 'messages' | 'tools' | 'settings'>;

/**
 * Divides a call into its sections. Together they are the call, and their tokens are its tokens.
 * @param tokens returns the tokens for a number of characters
 */
export function sectionsOf(
  { prompt, tools = [], ...rest }: LanguageModelV4CallOptions,
  kinds: readonly MessageKind[],
  tokens: (characters: number) => number,
): readonly PromptSection[] {
  const contents = new Map<PromptSectionName, Content>();
  for (const name of new Set(kinds)) contents.set(name, messagesOf(name, prompt, kinds));
  if (tools.length > 0) contents.set('tools', { tools });
  const settings = withoutSecrets(rest as unknown as JsonValue) as JsonObject;
  if (Object.keys(settings).length > 0) contents.set('settings', { settings });
  let characters = 0;
  const listed = names.flatMap((name) => {
    const content = contents.get(name);
    if (content === undefined) return [];
    const before = tokens(characters);
    characters += charactersOf(content);
    return [{ name, title: titles[name], tokens: tokens(characters) - before, ...content }];
  });
  return withShares(listed);
}

function messagesOf(
  name: PromptSectionName,
  prompt: readonly LanguageModelV4Message[],
  kinds: readonly MessageKind[],
): Content {
  const places = [...prompt.keys()].filter((place) => kinds[place] === name);
  const messages = places.map((place) => prompt[place] as LanguageModelV4Message);
  return { at: rangesOf(places), messages };
}

/** Returns numbers as ranges of neighbours, in rising order. */
export function rangesOf(numbers: readonly number[]): readonly PlaceRange[] {
  const ranges: [number, number][] = [];
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** Returns sections with the share that each has of the tokens of all. */
export function withShares(
  sections: readonly Omit<PromptSection, 'share'>[],
): readonly PromptSection[] {
  const all = tokensOf(sections);
  return sections.map((section) => ({ ...section, share: all === 0 ? 0 : section.tokens / all }));
}

export function tokensOf(sections: readonly Pick<PromptSection, 'tokens'>[]): number {
  return sections.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Position of a section in the list of all. */
export function rankOf(name: PromptSectionName): number {
  return names.indexOf(name);
}

/**
 * Returns the call that sections make up: its messages in their order, its tools and its settings.
 * It is what `promptOf` gives, but for values that were hidden in the settings.
 */
export function promptOfSections(sections: readonly PromptSection[]): LanguageModelV4CallOptions {
  const prompt: LanguageModelV4Message[] = [];
  let rest: Partial<LanguageModelV4CallOptions> = {};
  for (const { at = [], messages = [], tools, settings } of sections) {
    const places = at.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    for (const [index, message] of messages.entries()) prompt[places[index] as number] = message;
    if (tools !== undefined) rest = { ...rest, tools: [...tools] };
    if (settings !== undefined)
      rest = { ...rest, ...(settings as Partial<LanguageModelV4CallOptions>) };
  }
  return { prompt, ...rest };
}

const hidden = '[hidden]';

/** Returns a value with `[hidden]` in the place of everything under the name of a secret. */
function withoutSecrets(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((part) => withoutSecrets(part) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, part]) => [
      key,
      isSensitiveKey(key) ? hidden : withoutSecrets(part),
    ]),
  );
}

function charactersOf({ messages = [], tools, settings }: Content): number {
  const told = messages.reduce((sum, message) => sum + charactersOfMessage(message), 0);
  const rest = [tools && { tools }, settings].filter((part) => part !== undefined);
  return rest.reduce((sum, part) => sum + JSON.stringify(part).length, told);
}

/** Returns the characters of a message as the estimates of prompts count them. */
function charactersOfMessage(message: LanguageModelV4Message): number {
  if (message.role === 'system') return message.content.length;
  return message.content.reduce((sum, part) => sum + charactersOfPart(part), 0);
}

type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number];

function charactersOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'tool-call':
      return lengthOf(part.input);
    case 'tool-result':
      return 'value' in part.output ? lengthOf(part.output.value) : 0;
    default:
      return 0;
  }
}
