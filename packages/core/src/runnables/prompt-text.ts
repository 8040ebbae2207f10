import { defined } from '../base/defined.ts';
import { AdjutantError, isAdjutantError, toErrorRecord } from '../base/error.ts';
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

interface PromptTextData {
  readonly role: string;
  readonly reason: string;
  /** Agent whose prompt was made, where its function threw. */
  readonly agent?: string;
  /** Option of the agent that has the function; missing for a renderer. */
  readonly option?: 'instructions';
}

/** Error when the function of an injected message throws, or gives something else than a text. */
export class PromptTextError extends AdjutantError {
  constructor(data: PromptTextData, options?: ErrorOptions) {
    const { role, agent, option, reason } = data;
    const text =
      option === undefined
        ? `text of a ${role} message of the prompt${agent === undefined ? '' : ` of "${agent}"`}`
        : `\`${option}\` of the agent "${agent}"`;
    super('prompt_text', `The ${text} ${reason}.`, { ...data }, options);
  }
}

/**
 * Returns a renderer that appends a message with this text.
 * @param option option of the agent that the text is given as
 */
export function injectMessage(
  role: SyntheticMessage['role'],
  text: PromptText,
  option?: 'instructions',
): Renderer {
  if (typeof text === 'string') {
    const message = messageOf(role, text);
    return (context) => context.append(message);
  }
  const write = named(text, { role, ...defined({ option }) });
  const renderer = (context: RenderContext): RenderContext => {
    const given = write(context);
    if (!isPromise(given)) return context.append(messageOf(role, given));
    given.then(undefined, () => undefined);
    throw new PromptTextError({
      role,
      reason:
        'is a promise, which only the list `context` itself can wait for: put the renderer into ' +
        'the list instead of calling it in another one',
    });
  };
  writtenMessages.set(renderer, { role, write });
  return renderer;
}

/** Returns the function, with an error that says where it threw. */
function named(
  write: WrittenMessage['write'],
  place: Pick<PromptTextData, 'role' | 'option'>,
): WrittenMessage['write'] {
  return (context) => {
    const refuse = (cause: unknown): never => {
      if (isAdjutantError(cause)) throw cause;
      const reason = `threw: ${toErrorRecord(cause).message.replace(/\.$/, '')}`;
      throw new PromptTextError({ ...place, agent: context.agent, reason }, { cause });
    };
    try {
      const given: unknown = write(context);
      return (isPromise(given) ? given.then(undefined, refuse) : given) as string;
    } catch (thrown) {
      return refuse(thrown);
    }
  };
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
