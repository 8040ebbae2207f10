import { AdjutantError } from '../../base/error.ts';
import { findInvalidOption, isNonEmptyText } from '../../base/options.ts';

/** Most characters of a fact: every prompt holds all facts. */
const longestFact = 4_000;

/** Error for an argument of `ctx.remember` that is no fact for prompts. */
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

/**
 * Checks the text and the key of a fact.
 * @throws InvalidFactError
 */
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
