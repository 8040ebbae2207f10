import type { Event } from 'adjutant';
import { runOf } from '../../app/open-run.ts';

/** The last run of one lane of a session, as the events of the session tell. */
export class LaneRun {
  readonly #lane: string | undefined;
  readonly #lanes = new Map<string, string | undefined>();
  /** Events of a run that has not begun yet. */
  #early: Event[] = [];
  #agent: string | undefined;
  #isWorking = false;

  constructor(lane: string | undefined) {
    this.#lane = lane;
  }

  /** Name of the runnable whose run is open. `undefined`: no run is open. */
  get agent(): string | undefined {
    return this.#agent;
  }

  /** True while the open run does not wait for anybody. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** True for events of the lane, and for those of the session as a whole. */
  covers({ invocationId }: { readonly invocationId?: string | undefined }): boolean {
    return invocationId === undefined || this.#lanes.get(runOf(invocationId)) === this.#lane;
  }

  /**
   * Takes the next event of the session. Returns the events of the lane that are to be told now:
   * a message of a person stands before the begin of the run that tells its lane.
   */
  take(event: Event): readonly Event[] {
    const run = event.invocationId === undefined ? undefined : runOf(event.invocationId);
    if (event.type === 'invocation_start' && event.mode === 'root')
      this.#lanes.set(event.invocationId, event.lane);
    else if (run !== undefined && !this.#lanes.has(run)) {
      this.#early.push(event);
      return [];
    }
    if (!this.covers(event)) {
      this.#early = [];
      return [];
    }
    if (event.invocationId?.includes('/') === false) this.#root(event);
    return [...this.#early.splice(0), event];
  }

  /** Takes an event of the root of a run, or of the target of a handoff. */
  #root(event: Event): void {
    switch (event.type) {
      case 'invocation_start':
        if (event.mode === 'root') this.#agent = event.name;
        this.#isWorking = true;
        break;
      case 'invocation_resume':
      case 'invocation_reopen':
        this.#isWorking = true;
        break;
      case 'invocation_yield':
        this.#isWorking = false;
        break;
      case 'invocation_end':
        if (event.next !== undefined) break;
        this.#agent = undefined;
        this.#isWorking = false;
    }
  }
}
