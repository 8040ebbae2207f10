import type { AgentParts } from './agent-parts.ts';

/** Report of each round to `onStep`: the events of the agent since the last report. */
export class RoundReport {
  readonly #parts: AgentParts;
  #reportedSeq: number;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#reportedSeq = parts.frame.run.ledger.lastSeq;
  }

  /** Reports the new events as soon as they are durable. */
  async send(): Promise<void> {
    const { agent, frame } = this.#parts;
    const { run, record } = frame;
    const events = record.events.filter((event) => event.seq > this.#reportedSeq);
    this.#reportedSeq = run.ledger.lastSeq;
    if (events.length === 0) return;
    await run.ledger.durable();
    await run.onStep?.(events, run.session, agent);
  }
}
