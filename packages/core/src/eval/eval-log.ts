import type { Clock } from '../base/clock.ts';
import { isAdjutantError } from '../base/error.ts';
import { contentHash } from '../base/hash.ts';
import type { JsonObject } from '../base/json.ts';
import { type DecisionDraft, decision, isDecision } from '../ledger/decisions/decision.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';

/** A run of an eval, as the eval's log has it. */
export interface LoggedRun {
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt?: number;
}

const mostAttempts = 200;
const busyMs = 50;

/** The list of the runs of one eval: a ledger beside those of its trials. */
export class EvalLog {
  readonly #app: Runtime;
  readonly #session: string;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(app: Runtime, name: string, clock: Clock) {
    this.#app = app;
    this.#name = name;
    this.#clock = clock;
    this.#session = `eval-log-${contentHash(name)}`;
  }

  /** All runs, in the order in which they began. */
  async runs(): Promise<readonly LoggedRun[]> {
    const session = await this.#app.sessions.find(this.#session);
    return session === undefined ? [] : runsOf(session as Session);
  }

  /** Writes down that a run begins, unless it has begun before. */
  async begin(runId: string): Promise<LoggedRun> {
    const session = await this.#append((runs) =>
      runs.some((run) => run.runId === runId)
        ? undefined
        : decision('eval', 'begin', {
            reasoning: `The eval "${this.#name}" began as "${runId}".`,
            data: { name: this.#name, runId },
          }),
    );
    return runsOf(session).find((run) => run.runId === runId) as LoggedRun;
  }

  /** Writes down that a run has finished, unless it has finished before. */
  async finish(runId: string, summary: JsonObject): Promise<LoggedRun> {
    const session = await this.#append((runs) =>
      runs.some((run) => run.runId === runId && run.finishedAt !== undefined)
        ? undefined
        : decision('eval', 'finish', {
            reasoning: `"${runId}" of the eval "${this.#name}" finished.`,
            data: { runId, ...summary },
          }),
    );
    return runsOf(session).find((run) => run.runId === runId) as LoggedRun;
  }

  /** Several processes may write to it: each holds it for one entry only. */
  async #append(
    entry: (runs: readonly LoggedRun[]) => DecisionDraft | undefined,
  ): Promise<Session> {
    for (let attempt = 1; ; attempt++) {
      const session = (await this.#app.sessions.open({ id: this.#session })) as Session;
      try {
        const first = entry(runsOf(session));
        if (first === undefined) return session;
        await session.ledger.lease.own();
        session.append([first]);
        await session.flush();
        await session.ledger.release();
        return session;
      } catch (error) {
        const isTaken =
          isAdjutantError(error, 'session_busy') || isAdjutantError(error, 'ledger_conflict');
        if (!isTaken || attempt === mostAttempts) throw error;
        await new Promise<void>((resolve) => this.#clock.setTimer(busyMs, resolve));
      }
    }
  }
}

function runsOf({ events }: Pick<Session, 'events'>): readonly LoggedRun[] {
  const runs = new Map<string, LoggedRun>();
  for (const event of events) {
    if (!isDecision(event, 'eval', 'begin', 'finish')) continue;
    const runId = String(event.data?.runId);
    const known = runs.get(runId);
    if (event.decision === 'begin' && known === undefined)
      runs.set(runId, { runId, startedAt: event.at });
    if (event.decision === 'finish' && known !== undefined)
      runs.set(runId, { ...known, finishedAt: event.at });
  }
  return [...runs.values()];
}
