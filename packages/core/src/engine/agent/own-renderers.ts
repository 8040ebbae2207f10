import { includeHistory, injectUserMessage } from '../../context/renderers.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event } from '../../ledger/event.ts';
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

/**
 * Returns the renderers that an agent's definition has: its `instructions`, then its `context`.
 * @param outside events of the ledger that belong to no invocation: instructions that a fork was
 * made with are among them
 */
export function ownRenderers(
  { name, instructions: defined, context }: Agent,
  outside: readonly Event[],
): readonly Renderer[] {
  const instructions = editedInstructions(outside, name) ?? defined;
  const own = context ?? defaultRenderers;
  return instructions === undefined
    ? own
    : [injectMessage('system', instructions, 'instructions'), ...own];
}

/** Returns the instructions of an agent that a fork was made with; `undefined` without such. */
function editedInstructions(outside: readonly Event[], agent: string): string | undefined {
  for (const event of outside.toReversed())
    if (isDecision(event, 'edit', 'instructions') && event.data?.agent === agent)
      return event.data.instructions;
  return undefined;
}
