import type { RunContext } from './run-context.ts';

/** The turn in which a worker carries out a run, as the run sees it. */
export interface TurnOfRun {
  /** Called before the run goes on. It may close the gate, so that nothing new begins. */
  begin(run: RunContext): void;
  /**
   * Called before each model call of the run. It may close the gate, because a task of a higher
   * priority has come, or because nothing is to begin while somebody speaks.
   */
  beforeRound(run: RunContext): Promise<void>;
}
