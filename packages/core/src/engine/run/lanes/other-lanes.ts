import type { Clock } from '../../../base/clock.ts';
import type { Event } from '../../../ledger/event.ts';
import { isOfOtherLane } from '../../../ledger/folds/lanes.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { AppServices } from '../../frame/app-services.ts';
import { inFlightOn } from '../../frame/in-flight.ts';
import { openLanes } from '../root-run.ts';
import { nextWake } from '../waiting/request-teller.ts';
import { canGoOn } from './lane-work.ts';

/** Events that let a run go on which waits, or begin to wait for an instant. */
const wakingTypes: ReadonlySet<Event['type']> = new Set([
  'user',
  'tool_input',
  'tool_result',
  'cancel',
  'invocation_reopen',
  'invocation_yield',
]);

/**
 * The lanes beside that of a run. A process that holds a session works on all of its lanes, because
 * no other process can: it resumes those that can go on.
 */
export class OtherLanes {
  readonly #ledger: Ledger;
  readonly #lane: string;
  readonly #app: Pick<AppServices, 'resumeRun' | 'telling'>;
  readonly #clock: Clock;
  #cancelTimer: () => void = () => undefined;
  #forget: () => void = () => undefined;
  #isScheduled = false;
  #isStopped = false;

  constructor(
    ledger: Ledger,
    lane: string,
    app: Pick<AppServices, 'resumeRun' | 'telling' | 'clock'>,
  ) {
    this.#ledger = ledger;
    this.#lane = lane;
    this.#app = app;
    this.#clock = app.clock;
  }

  /** Resumes the lanes that can go on, and from now on those to which something comes. */
  start(): void {
    this.#forget = this.#ledger.onDraft((event) => {
      if (!wakingTypes.has(event.type)) return;
      if (isOfOtherLane(this.#ledger.invocations, event, this.#lane)) this.#schedule();
    });
    this.look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#forget();
  }

  /** Resumes the lanes that can go on, and sets a timer for the next one that will. */
  look(): void {
    const { addressed } = inFlightOn(this.#ledger);
    const { failure, session } = this.#ledger;
    if (failure !== undefined) return;
    for (const lane of [...addressed]) if (lane !== this.#lane) this.#app.resumeRun(session, lane);
    const others = openLanes(this.#ledger).filter((lane) => lane !== this.#lane);
    for (const lane of others)
      if (canGoOn(this.#ledger, lane, this.#app.telling)) this.#app.resumeRun(session, lane);
    this.#arm(others);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#ledger.ports.host.afterTurn(() => {
      this.#isScheduled = false;
      if (!this.#isStopped) this.look();
    });
  }

  #arm(others: readonly string[]): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    const { rested } = inFlightOn(this.#ledger);
    const times = others.flatMap((lane) => {
      const at = nextWake(this.#ledger, this.#app.telling, lane);
      return at === null || at <= (rested.get(lane)?.at ?? -1) ? [] : [at];
    });
    if (times.length === 0) return;
    const ms = Math.max(1, Math.min(...times) - this.#clock.now());
    this.#cancelTimer = this.#clock.setTimer(ms, () => this.look());
  }
}
