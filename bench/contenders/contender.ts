/**
 * The measured parts of a framework. Everything that takes time outside of a call is done when it
 * is made.
 */
export interface Contender {
  readonly name: 'bare loop' | 'Adjutant' | 'AI SDK' | 'LangGraph.js';
  /**
   * Prepares a conversation of so many rounds with so many calls of a tool in each; the function it
   * gives is what is timed.
   */
  rounds(rounds: number, calls: number): () => Promise<void>;
  /**
   * Prepares an answer of so many deltas; the function it gives reads them and says when the first
   * one came.
   */
  deltas(
    count: number,
  ): () => Promise<{ readonly received: number; readonly firstAfterMs: number }>;
}

/**
 * The conversation came out otherwise than it was written, so that what was measured means nothing.
 */
export function assertEqual(found: number | string, expected: number | string, what: string): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}.`);
}

export const deltaText = 'delta ';
