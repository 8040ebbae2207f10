import type { EventOf } from '../../ledger/event.ts';

/** Measures that made the agent's prompts shorter. */
export interface PromptState {
  compactions: number;
  /**
   * Number of compactions after a prompt was refused as too long, since the last completed model
   * call.
   */
  overflows: number;
  /** Maximum length of a tool result in characters, set when a compaction shortened results. */
  resultLimit: number | undefined;
}

export function startPrompt(): PromptState {
  return { compactions: 0, overflows: 0, resultLimit: undefined };
}

/** Folds a compaction. */
export function compact(prompt: PromptState, { reason, resultLimit }: EventOf<'compaction'>): void {
  prompt.compactions++;
  if (resultLimit !== undefined) prompt.resultLimit = resultLimit;
  if (reason === 'overflow') prompt.overflows++;
}
