import { AdjutantError } from '../base/error.ts';
import { describeValue } from '../base/options.ts';
import type {
  PromptText,
  RenderContext,
  Renderer,
  RenderState,
  SyntheticMessage,
} from './render-context.ts';

/** Message that a function writes for each prompt. */
export interface WrittenMessage {
  readonly role: SyntheticMessage['role'];
  readonly write: (context: RenderState) => string | Promise<string>;
}

const writtenMessages = new WeakMap<Renderer, WrittenMessage>();

/** Error when the function of an injected message gives something else than a text. */
export class PromptTextError extends AdjutantError {
  constructor(data: { role: string; reason: string }) {
    super('prompt_text', `The text of a ${data.role} message of the prompt ${data.reason}.`, data);
  }
}

/** Returns a renderer that appends a message with this text. */
export function injectMessage(role: SyntheticMessage['role'], text: PromptText): Renderer {
  if (typeof text === 'string') {
    const message = messageOf(role, text);
    return (context) => context.append(message);
  }
  const renderer = (context: RenderContext): RenderContext => {
    const given = text(context);
    if (!isPromise(given)) return context.append(messageOf(role, given));
    given.then(undefined, () => undefined);
    throw new PromptTextError({
      role,
      reason:
        'is a promise, which only the list `context` itself can wait for: put the renderer into ' +
        'the list instead of calling it in another one',
    });
  };
  writtenMessages.set(renderer, { role, write: text });
  return renderer;
}

/** Returns the message that a renderer gets from a function; `undefined` for other renderers. */
export function writtenMessageOf(renderer: Renderer): WrittenMessage | undefined {
  return writtenMessages.get(renderer);
}

/** @throws PromptTextError when the text is no string */
export function messageOf(role: SyntheticMessage['role'], text: unknown): SyntheticMessage {
  if (typeof text !== 'string')
    throw new PromptTextError({
      role,
      reason: `must be a string, and its function gave ${describeValue(text)}`,
    });
  return Object.freeze({ type: 'synthetic', role, text });
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
