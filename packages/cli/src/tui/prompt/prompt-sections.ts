import { canonicalJson } from 'adjutant/text';
import type { ModelPrompt } from '../session/conversation.ts';

/** A part of a prompt that a model reads as one: a message or a piece of it, a tool, a setting. */
export interface PromptPart {
  /** The part as canonical JSON, by which prompts are compared. */
  readonly key: string;
  /** `user`, `assistant`, `tool runTests`, or the name of a tool or a setting. */
  readonly name: string;
  readonly text: string;
  /** The text as it is shown in one line, where that is not its begin. */
  readonly line?: string;
  /** Id of the call that a result answers. */
  readonly callId?: string;
}

export interface PromptSection {
  readonly name: 'tools' | 'system' | 'history' | 'settings';
  readonly parts: readonly PromptPart[];
}

type Message = ModelPrompt['prompt'][number];
type Piece = Exclude<Message['content'], string>[number];

/** Members of a call that are no settings of it. */
const others: ReadonlySet<string> = new Set(['prompt', 'tools', 'abortSignal', 'headers']);

/** Returns the parts of a prompt by section, in the order in which models are given them. */
export function promptSections(prompt: ModelPrompt): readonly PromptSection[] {
  const { prompt: messages, tools = [] } = prompt;
  const isSystem = ({ role }: Message): boolean => role === 'system';
  const history = messages.filter((message) => !isSystem(message));
  const settings = Object.entries(prompt).flatMap(([name, value]) =>
    others.has(name) || value === undefined ? [] : [part(name, value, jsonOf(value))],
  );
  const sections: PromptSection[] = [
    { name: 'system', parts: messages.filter(isSystem).flatMap(messageParts) },
    { name: 'tools', parts: tools.map(toolPart) },
    { name: 'history', parts: history.flatMap(messageParts) },
    { name: 'settings', parts: settings },
  ];
  return sections.filter(({ parts }) => parts.length > 0);
}

function part(name: string, value: unknown, text: string): PromptPart {
  return { key: canonicalJson(value), name, text };
}

function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
}

function toolPart(tool: NonNullable<ModelPrompt['tools']>[number]): PromptPart {
  const line = 'description' in tool ? tool.description : undefined;
  const made = part(tool.name, tool, jsonOf(tool));
  return line === undefined ? made : { ...made, line };
}

function lineOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function messageParts({ role, content }: Message): PromptPart[] {
  if (typeof content === 'string') return [part(role, { role, content }, content)];
  return content.map((piece: Piece) => piecePart(role, piece));
}

function piecePart(role: Message['role'], piece: Piece): PromptPart {
  const made = (name: string, text: string): PromptPart => part(name, { role, piece }, text);
  switch (piece.type) {
    case 'text':
      return made(role, piece.text);
    case 'reasoning':
      return made('thought', piece.text);
    case 'tool-call':
      return {
        ...made(`call ${piece.toolName}`, jsonOf(piece.input)),
        line: JSON.stringify(piece.input),
      };
    case 'tool-result': {
      const { output } = piece;
      const text = 'value' in output ? jsonOf(output.value) : jsonOf(output);
      const line = 'value' in output ? { line: lineOf(output.value) } : {};
      return { ...made(`tool ${piece.toolName}`, text), ...line, callId: piece.toolCallId };
    }
    default:
      return made(`${role} ${piece.type}`, jsonOf(piece));
  }
}

/** All parts of a prompt, in order. */
export function allParts(sections: readonly PromptSection[]): readonly PromptPart[] {
  return sections.flatMap(({ parts }) => parts);
}
