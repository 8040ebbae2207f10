import type { TerminalModes } from '../../host/terminal-modes.ts';

/** Shortest work whose end is told by a bell. */
const bellAfter = 20_000;

export interface WorkState {
  readonly isWorking: boolean;
  readonly agent: string;
  readonly hasRequests: boolean;
}

/** Tells by the title of the window and the bell how the work goes. */
export class WorkSignals {
  readonly #modes: TerminalModes;
  readonly #now: () => number;
  #since: number | undefined;

  constructor(modes: TerminalModes, now: () => number) {
    this.#modes = modes;
    this.#now = now;
  }

  tell({ isWorking, agent, hasRequests }: WorkState): void {
    const began = this.#since;
    this.#since = isWorking ? (began ?? this.#now()) : undefined;
    const state = isWorking ? 'working' : hasRequests ? 'waits for you' : 'done';
    this.#modes.title(`${agent}: ${state}`);
    if (!isWorking && began !== undefined && this.#now() - began > bellAfter) this.#modes.bell();
  }
}
