import { includeHistory, injectUserMessage } from '../../context/renderers.ts';
import type { Agent } from '../../runnables/agent.ts';
import { injectMessage } from '../../runnables/prompt-text.ts';
import type { Renderer } from '../../runnables/render-context.ts';

/** Renderers of an agent that sets no `context`. */
const defaultRenderers: readonly Renderer[] = [includeHistory()];

/** Renderer of the message that asks for a last answer without tools. */
export const finalAnswer: Renderer = injectUserMessage(
  'No more tools are run for this task: do not call any. Answer now as well as you can ' +
    'with what you know, and say what is missing.',
);

/** Returns the renderers that an agent's definition has: its `instructions`, then its `context`. */
export function ownRenderers({ instructions, context }: Agent): readonly Renderer[] {
  const own = context ?? defaultRenderers;
  return instructions === undefined
    ? own
    : [injectMessage('system', instructions, 'instructions'), ...own];
}
