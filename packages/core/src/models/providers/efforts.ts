/** Settings with less reasoning than before, and their name for people. */
export interface LowerEffort<Settings> {
  readonly name: string;
  readonly settings: Settings;
}

/**
 * The levels below one, the highest first. `minimal` is never chosen: not every reasoning model
 * takes it. Without a level there are none: the model may not reason at all.
 */
export function lowerLevels(
  level: 'minimal' | 'low' | 'medium' | 'high' | undefined,
): readonly ('low' | 'medium')[] {
  if (level === 'high') return ['medium', 'low'];
  return level === 'medium' ? ['low'] : [];
}

/**
 * The smallest budget for thinking that all models with one accept, in tokens (Anthropic's
 * documentation of extended thinking).
 */
const smallestBudget = 1_024;

/**
 * Smaller budgets of thinking tokens: a quarter, then the smallest. -1 leaves the size to the
 * model.
 */
export function lowerBudgets(budget: number | undefined): readonly number[] {
  if (budget === undefined) return [];
  if (budget === -1) return [smallestBudget];
  const quarter = Math.floor(budget / 4);
  return [...new Set([Math.max(quarter, smallestBudget), smallestBudget])].filter(
    (lower) => lower < budget,
  );
}
