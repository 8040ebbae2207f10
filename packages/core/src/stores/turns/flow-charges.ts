import { type Flow, type FlowName, flowOf, type Turn } from './turn.ts';
import type { TurnTables } from './turn-tables.ts';

/**
 * Shares of flows by virtual time (start-time fair queuing): a flow is charged when one of its
 * turns is taken, and the flow with the least virtual time is next. One that was idle does not save
 * up: it starts at the least of those that are busy.
 */
export class FlowCharges {
  readonly #tables: TurnTables;

  constructor(tables: TurnTables) {
    this.#tables = tables;
  }

  /** Counts a turn that becomes ready. */
  enter(turn: Turn): void {
    const name = flowOf(turn);
    const flow: Flow = this.#tables.flow(name) ?? { ...name, virtualTime: 0, ready: 0 };
    if (flow.ready === 0) {
      const [least] = this.#tables.busyFlows(name, undefined);
      flow.virtualTime = Math.max(flow.virtualTime, least?.virtualTime ?? 0);
    }
    flow.ready += 1;
    this.#tables.saveFlow(flow);
  }

  /** Counts a turn that is no longer ready. */
  leave(turn: Turn): void {
    const flow = this.#tables.flow(flowOf(turn));
    if (flow === undefined) return;
    flow.ready = Math.max(0, flow.ready - 1);
    this.#tables.saveFlow(flow);
  }

  /** Counts the ready turns of a flow anew: rows may have been lost. */
  recount(turn: Turn): void {
    const flow = this.#tables.flow(flowOf(turn));
    if (flow !== undefined)
      this.#tables.saveFlow({ ...flow, ready: this.#tables.countReady(flow) });
  }

  /** Charges the flow of a turn that is taken by its estimate. */
  charge(turn: Turn, weight: number): void {
    turn.chargedMs = turn.estimateMs;
    turn.weight = weight;
    this.#add(flowOf(turn), turn.chargedMs / weight);
  }

  /** Replaces the estimate by the time really worked. */
  correct(turn: Turn, now: number): void {
    this.#replace(turn, Math.max(0, now - (turn.takenAt ?? now)));
  }

  /**
   * Limits the estimate to the time for which a lost worker had the turn. Nobody knows for how long
   * it has worked, but it was not longer: whose worker dies does not lose more of the share.
   */
  correctLost(turn: Turn, now: number): void {
    const hadMs = Math.max(0, now - (turn.takenAt ?? now));
    this.#replace(turn, Math.min(turn.chargedMs, hadMs));
  }

  #replace(turn: Turn, workedMs: number): void {
    if (turn.ticket === undefined || turn.isControl) return;
    this.#add(flowOf(turn), (workedMs - turn.chargedMs) / turn.weight);
    turn.chargedMs = 0;
  }

  /**
   * Moves the charge of a taken turn from the flow that it had to the one that it has. Otherwise
   * the new flow would be credited with an estimate that another one was charged.
   */
  move(turn: Turn, from: FlowName): void {
    const to = flowOf(turn);
    const isSame =
      from.queue === to.queue && from.level === to.level && from.requester === to.requester;
    if (isSame || turn.place !== 'taken' || turn.ticket === undefined || turn.isControl) return;
    this.#add(from, -turn.chargedMs / turn.weight);
    this.#add(to, turn.chargedMs / turn.weight);
  }

  #add(name: FlowName, ms: number): void {
    const flow = this.#tables.flow(name) ?? { ...name, virtualTime: 0, ready: 0 };
    flow.virtualTime += ms;
    this.#tables.saveFlow(flow);
  }
}
