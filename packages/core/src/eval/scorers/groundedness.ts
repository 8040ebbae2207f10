import { checkOptions } from '../../base/invalid-option.ts';
import { isFunction, isListOf, isNonEmptyText, type OptionChecks } from '../../base/options.ts';
import { type Claim, type ClaimKind, claimsOf, Evidence } from './claims.ts';
import { isShare } from './own-scorer.ts';
import type { Score, Scorer, TrialRecord } from './scorer.ts';

export interface GroundednessOptions {
  /** @default 'groundedness' */
  readonly name?: string;
  /**
   * The kinds of claims that are looked up.
   * @default all: ['number', 'quote', 'identifier', 'name']
   */
  readonly claims?: readonly ClaimKind[];
  /**
   * Texts that may be repeated besides tool results and what the user said, such as what the
   * instructions say. @default none
   */
  readonly sources?: (trial: TrialRecord) => readonly string[];
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
}

const kinds = ['number', 'quote', 'identifier', 'name'] as const;
const checks: OptionChecks<GroundednessOptions> = {
  name: isNonEmptyText,
  claims: isListOf(...kinds),
  sources: isFunction,
  threshold: isShare,
};

/**
 * Checks that numbers, quotes, identifiers and proper names of the answers occur before them in the
 * tool results or in the messages of the user. The score is the share of claims that do.
 *
 * It compares words and not meaning: it finds a number or name that is made up, and neither a wrong
 * statement made of known words nor a claim without numbers and names. What the agent computed (a
 * sum) or translated is not found in the results and counts as made up. For such answers use
 * `judgedGroundedness`.
 * @throws InvalidOptionError
 */
export function groundedness(options: GroundednessOptions = {}): Scorer {
  checkOptions('groundedness', options, checks);
  const { name = 'groundedness', claims = kinds, sources, threshold = 1 } = options;
  const score = (trial: TrialRecord): Score | undefined => {
    if (trial.turns.every(({ answer }) => answer === '')) return undefined;
    const texts: string[] = [...(sources?.(trial) ?? [])];
    const found = trial.turns.flatMap((turn) => {
      texts.push(turn.user, ...resultTexts(turn.toolCalls));
      const evidence = new Evidence(texts);
      const made = uniqueClaims(turn.texts.flatMap(claimsOf)).filter(({ kind }) =>
        claims.includes(kind),
      );
      return made.map((claim) => ({ claim, isFound: evidence.has(claim) }));
    });
    const missing = found.filter(({ isFound }) => !isFound).map(({ claim }) => claim);
    return {
      score: found.length === 0 ? 1 : 1 - missing.length / found.length,
      explanation: explain(found.length, missing),
      details: {
        claims: found.length,
        notFound: missing.map(({ kind, text }) => ({ kind, text })),
      },
    };
  };
  return Object.freeze({ name, threshold, score });
}

/** The contents of tool results, as texts. */
function resultTexts(toolCalls: TrialRecord['toolCalls']): readonly string[] {
  return toolCalls.flatMap(({ result }) => {
    if (result === undefined) return [];
    return [typeof result.content === 'string' ? result.content : JSON.stringify(result.content)];
  });
}

function uniqueClaims(claims: readonly Claim[]): readonly Claim[] {
  return [...new Map(claims.map((claim) => [`${claim.kind} ${claim.text}`, claim])).values()];
}

function explain(count: number, missing: readonly Claim[]): string {
  if (count === 0)
    return 'The answer has no number, quote, identifier or name that could be looked up.';
  if (missing.length === 0)
    return (
      `All ${count} numbers, quotes, identifiers and names occur in the tool results or in ` +
      'what the user said.'
    );
  const list = missing.map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`).join(', ');
  return (
    `${missing.length} of ${count} are in no tool result and nothing that the user said: ` +
    `${list}.`
  );
}
