import type { Run } from '../run.ts';

/** Runs that a process carries out now: one at most for each lane of a session. */
export class ActiveRuns {
  readonly #sessions = new Map<string, Map<string, Run>>();

  get(session: string, lane: string): Run | undefined {
    return this.#sessions.get(session)?.get(lane);
  }

  /** The runs on a session. */
  of(session: string): readonly Run[] {
    return [...(this.#sessions.get(session)?.values() ?? [])];
  }

  add(session: string, lane: string, run: Run): void {
    const lanes = this.#sessions.get(session) ?? new Map<string, Run>();
    lanes.set(lane, run);
    this.#sessions.set(session, lanes);
  }

  delete(session: string, lane: string): void {
    const lanes = this.#sessions.get(session);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.#sessions.delete(session);
  }
}
