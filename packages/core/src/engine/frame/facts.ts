import { AdjutantError } from '../../base/error.ts';
import { findInvalidOption, isNonEmptyText } from '../../base/options.ts';

/** Characters of a fact to remember: all facts stand in every prompt. */
const longestFact = 4_000;

/** What `ctx.remember` was given is no fact that prompts could hold. */
export class InvalidFactError extends AdjutantError {
  constructor(data: { reason: string }) {
    super(
      'invalid_fact',
      `The fact cannot be remembered: ${data.reason}. Give a short text: ` +
        `ctx.remember('Prefers letters', { key: 'contact' }).`,
      data,
    );
  }
}

/** @throws InvalidFactError */
export function assertFact(text: unknown, options: { readonly key?: string }): void {
  const reason =
    isNonEmptyText(text) === undefined
      ? findInvalidOption(options, { key: isNonEmptyText })?.reason
      : 'it must be a text that is not empty';
  if (reason !== undefined) throw new InvalidFactError({ reason });
  const { length } = text as string;
  if (length > longestFact)
    throw new InvalidFactError({
      reason:
        `it has ${length} characters, and ${longestFact} are allowed, for every prompt holds ` +
        'it',
    });
}
