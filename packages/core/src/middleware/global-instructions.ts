import { InvalidOptionError } from '../base/invalid-option.ts';
import { describeValue, isNonEmptyText } from '../base/options.ts';
import type { Middleware } from '../runnables/hooks.ts';
import { injectMessage } from '../runnables/prompt-text.ts';
import type { PromptText } from '../runnables/render-context.ts';

/**
 * Puts a system message before everything that the agents' own renderers add: on a runtime, rules
 * for all of its agents.
 */
export function globalInstructions(text: PromptText): Middleware {
  if (isNonEmptyText(text) !== undefined && typeof text !== 'function') {
    throw new InvalidOptionError({
      function: 'globalInstructions',
      reason:
        'it needs a text that is not empty, or a function that gives one, not ' +
        `${describeValue(text)}`,
    });
  }
  return Object.freeze({
    name: 'globalInstructions',
    context: [injectMessage('system', text)],
  });
}
