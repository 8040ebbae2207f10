import { AdjutantError } from '../base/error.ts';
import { isPlainObject } from '../base/json.ts';

/**
 * Error when an event of a user has a part that is not text, such as a file or an image. A prompt
 * has no place for it, so the model would never see it.
 */
export class MessagePartError extends AdjutantError {
  constructor(data: { index: number; part: string }) {
    super(
      'message_part_unsupported',
      `Event ${data.index} cannot be appended: a message is text, and ${data.part} would not ` +
        'reach the model. Put what it says into `text`, or give the agent a tool that reads it.',
      data,
    );
  }
}

/**
 * Returns an event of a user with its text parts behind its text, unless the text has them already.
 * @throws MessagePartError for parts that are not text
 */
export function withTextOfParts(
  draft: Readonly<Record<string, unknown>>,
  index: number,
): Readonly<Record<string, unknown>> {
  const { parts, ...rest } = draft;
  if (draft['type'] !== 'user' || parts === undefined) return draft;
  if (!Array.isArray(parts)) throw new MessagePartError({ index, part: '`parts` that is no list' });
  const texts = parts.map((part: unknown, at) => {
    const text = textOf(part);
    if (text === undefined) throw new MessagePartError({ index, part: told(part, at) });
    return text;
  });
  const ofParts = texts.join('\n\n');
  const { text = '' } = rest;
  if (typeof text !== 'string' || text.includes(ofParts)) return rest;
  return { ...rest, text: text === '' ? ofParts : `${text}\n\n${ofParts}` };
}

function textOf(part: unknown): string | undefined {
  if (!isPlainObject(part) || part['type'] !== 'text') return undefined;
  return typeof part['text'] === 'string' ? part['text'] : undefined;
}

function told(part: unknown, at: number): string {
  const type = isPlainObject(part) ? part['type'] : undefined;
  return `\`parts[${at}]\` (${typeof type === 'string' ? `of the type "${type}"` : 'of no type'})`;
}
