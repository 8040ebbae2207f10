import { isPromise, messageOf, writtenMessageOf } from '../runnables/prompt-text.ts';
import type { RenderContext, Renderer, SyntheticMessage } from '../runnables/render-context.ts';

/** Message whose text was awaited. Its place counts the functions that write messages. */
export interface AwaitedMessage {
  readonly place: number;
  readonly message: SyntheticMessage;
}

/** Prompt that renderers made, with the messages for which it had to wait. */
export interface Rendering {
  readonly context: RenderContext;
  readonly awaited: readonly AwaitedMessage[];
}

/** Returns a text that is on record for the function at a place; `undefined`: it is called. */
export type RecordedText = (place: number) => string | undefined;

/**
 * Applies renderers from left to right. The result is a promise only when one of the texts is.
 * @param recorded texts that a replay serves, so that their functions are not called
 * @throws PromptTextError
 */
export function render(
  start: RenderContext,
  renderers: readonly Renderer[],
  recorded?: RecordedText,
): Rendering | Promise<Rendering> {
  return new RenderPass(renderers, recorded).from(0, start);
}

/** One pass over the renderers, which goes on where it had to wait. */
class RenderPass {
  readonly #renderers: readonly Renderer[];
  readonly #recorded: RecordedText | undefined;
  readonly #awaited: AwaitedMessage[] = [];
  /** Number of functions that were passed. */
  #place = 0;

  constructor(renderers: readonly Renderer[], recorded: RecordedText | undefined) {
    this.#renderers = renderers;
    this.#recorded = recorded;
  }

  from(first: number, start: RenderContext): Rendering | Promise<Rendering> {
    let context = start;
    for (let i = first; i < this.#renderers.length; i++) {
      const renderer = this.#renderers[i] as Renderer;
      const written = writtenMessageOf(renderer);
      if (written === undefined) {
        context = renderer(context);
        continue;
      }
      const place = this.#place++;
      const before = context;
      const text = this.#recorded?.(place);
      const given = text ?? written.write(before);
      if (isPromise(given))
        return given.then((value) =>
          this.from(i + 1, this.#await(place, before, messageOf(written.role, value))),
        );
      const message = messageOf(written.role, given);
      context = text === undefined ? before.append(message) : this.#await(place, before, message);
    }
    return { context, awaited: this.#awaited };
  }

  #await(place: number, context: RenderContext, message: SyntheticMessage): RenderContext {
    this.#awaited.push({ place, message });
    return context.append(message);
  }
}
