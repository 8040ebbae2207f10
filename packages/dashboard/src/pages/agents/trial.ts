import type { RunHandle } from '@adjutant/server/client';

/** Run of the playground, in a session of its own. */
export interface Trial {
  /** Number of the prompt, and of the run of it: "2.1". */
  readonly label: string;
  readonly message: string;
  readonly session: string;
  readonly run: string;
  readonly handle: RunHandle;
}
