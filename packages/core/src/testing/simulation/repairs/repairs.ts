import { isAdjutantError } from '../../../base/error.ts';
import type { EventOf } from '../../../ledger/event.ts';
import { isRootOf } from '../../../ledger/path.ts';
import type { Runtime } from '../../../runtime.ts';
import type { Caller, CallOutcome } from '../caller.ts';
import type { FaultPlan } from '../faults.ts';
import type { FoundOutcome, StartedProgram, UnknownEffect } from '../simulated-program.ts';
import type { Watch } from '../watch.ts';
import type { World } from '../world.ts';
import type { ToldOutcome } from './outcome-checks.ts';

/** Milliseconds between two looks at a run that may have failed. */
const lookEveryMs = 30_000;
/** Milliseconds that people take to find out what became of an effect, at least and at most. */
const findingOut = { fastest: 500, slowest: 1_800_000 };
/** Most repairs of one run: people give up one that fails again and again. */
const mostRepairs = 8;
/** Shares of the repairs in which people go wrong. */
const shares = { reopensFirst: 0.15, tellsOther: 0.2, tellsTwice: 0.3, tellsTooLate: 0.3 };
/** Codes of refusals that pass: the store is away, or another process has the session. */
const passing: ReadonlySet<string> = new Set([
  'store_unavailable',
  'session_busy',
  'ledger_conflict',
]);

/** Codes of refusals that are the fault of the program. */
const faultsOfRepairs = ['invalid_run', 'not_json'];

interface RepairParts {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly watch: Watch;
  readonly caller: Caller;
  /** Notes that people let a session go on, until the returned function is called. */
  readonly lets: (session: string) => () => void;
}

type Ended = EventOf<'invocation_end'>;

/**
 * People who repair runs that failed because the outcome of an effect is unknown: they find out
 * what became of it, tell it, and reopen the run. Some do it in the wrong order, or tell too much.
 */
export class Repairs {
  readonly told: ToldOutcome[] = [];
  readonly #parts: RepairParts;
  /** Runs that somebody repairs at this moment. */
  readonly #underWay = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #givenUp = new Set<string>();
  readonly #watched: StartedProgram[] = [];
  #isQuick = false;

  constructor(parts: RepairParts) {
    this.#parts = parts;
  }

  /** Repairs a run from now on, if its program says how. */
  begin(started: StartedProgram): void {
    if (started.program.repair === undefined) return;
    this.#watched.push(started);
    this.#look(started);
  }

  /** From now on, all runs are repaired soon. */
  hurry(): void {
    this.#isQuick = true;
  }

  /** True when a run has failed that somebody is to repair. */
  get isNeeded(): boolean {
    return this.#watched.some(
      (started) => this.#underWay.has(started.runId) || this.#failureOf(started) !== undefined,
    );
  }

  #look(started: StartedProgram): void {
    const { world } = this.#parts;
    const end = this.#failureOf(started);
    if (end !== undefined && !this.#underWay.has(started.runId)) void this.#repair(started, end);
    world.after(this.#isQuick ? lookEveryMs / 10 : lookEveryMs, () => this.#look(started));
  }

  /** The end of a run that has failed because an outcome is unknown, and is not open again. */
  #failureOf({ runId, session }: StartedProgram): Ended | undefined {
    if (this.#givenUp.has(runId)) return undefined;
    const last = this.#parts.watch
      .eventsOf(session)
      .findLast(
        (event) =>
          (event.type === 'invocation_end' || event.type === 'invocation_reopen') &&
          isRootOf(event.invocationId, runId),
      );
    const isUnknown = last?.type === 'invocation_end' && last.error?.code === 'effect_unknown';
    return isUnknown ? last : undefined;
  }

  async #repair(started: StartedProgram, end: Ended): Promise<void> {
    const { runId } = started;
    this.#underWay.add(runId);
    const found = this.#findOut(started, end);
    if (found === undefined) this.#givenUp.add(runId);
    else await this.#tellAndReopen(started, found);
    this.#underWay.delete(runId);
  }

  #findOut({ index, program, runId }: StartedProgram, { error }: Ended) {
    const times = (this.#counts.get(runId) ?? 0) + 1;
    this.#counts.set(runId, times);
    if (times > mostRepairs) return undefined;
    const { attempt, callId, key } = (error?.data ?? {}) as unknown as UnknownEffect;
    try {
      const outcome = program.repair?.({ callId, key, attempt });
      return outcome === undefined ? undefined : { callId, attempt, outcome };
    } catch (error) {
      const about = `\`repair\` of \`programs[${index}]\` throws `;
      this.#parts.watch.reportError('answer_taken', error, about);
      return undefined;
    }
  }

  async #tellAndReopen(
    started: StartedProgram,
    {
      attempt,
      callId,
      outcome,
    }: { readonly callId: string; readonly attempt: number; readonly outcome: FoundOutcome },
  ): Promise<void> {
    const { plan, watch, world } = this.#parts;
    const { draws } = world;
    // The same without faults, where a run may fail at other times.
    const place = `repair ${callId} ${attempt}`;
    const { fastest, slowest } = findingOut;
    const ms = this.#isQuick ? fastest : draws.delay(`${place} finds out`, fastest, slowest);
    await world.wait(ms);
    const tell = (how: string, of: string, found: FoundOutcome): Promise<CallOutcome> =>
      this.#tell(started, of, found, `${place} ${how}`);
    const isWrong = (kind: keyof typeof shares): boolean =>
      draws.at(`${place} ${kind}`) < shares[kind];
    if (isWrong('tellsOther')) {
      const told = await tell('other', `${callId}_other`, outcome);
      if (told === 'done')
        watch.report('outcome_heeded', `${callId}_other was told, and is not there`);
    }
    const visited = plan.visit(`people/${callId} outcome`);
    if (isWrong('reopensFirst')) {
      await this.#reopen(started, place);
      await tell('late', callId, outcome);
      return;
    }
    const first = tell('first', callId, outcome);
    if (plan.happens('doubleAnswer', visited)) void tell('beside', callId, otherThan(outcome));
    const told = await first;
    if (told === 'done' && isWrong('tellsTwice')) await tell('again', callId, otherThan(outcome));
    await this.#reopen(started, place);
    if (isWrong('tellsTooLate')) await tell('too late', callId, otherThan(outcome));
  }

  async #tell(
    { index, session }: StartedProgram,
    callId: string,
    found: FoundOutcome,
    place: string,
  ): Promise<CallOutcome> {
    const { caller, watch } = this.#parts;
    const told: ToldOutcome = { session, callId, found, isConfirmed: false };
    this.told.push(told);
    const telling = (app: Runtime): Promise<void> =>
      app.sessions.resolveUnknown(session, callId, { ...found, by: 'operator:jo' });
    const outcome = await caller.call({
      place,
      text: `the outcome of ${callId} is told (happened: ${found.happened})`,
      make: (app) =>
        telling(app).catch((error: unknown) => {
          if (faultsOfRepairs.some((code) => isAdjutantError(error, code)))
            watch.reportError('answer_taken', error, `\`repair\` of \`programs[${index}]\`: `);
          throw error;
        }),
      isPassing: (code) => passing.has(code),
    });
    told.isConfirmed = outcome === 'done';
    return outcome;
  }

  async #reopen({ runId, session }: StartedProgram, place: string): Promise<void> {
    const isOver = this.#parts.lets(session);
    await this.#parts.caller.call({
      place: `${place} reopens`,
      text: `${runId} is reopened`,
      make: (app) =>
        app.sessions.reopen(session, { reason: 'The outcome was found out.', by: 'operator:jo' }),
      isPassing: (code) => passing.has(code),
    });
    isOver();
  }
}

/** The opposite of an outcome: nobody knows better, but somebody believes it. */
function otherThan({ happened }: FoundOutcome): FoundOutcome {
  return { happened: !happened };
}
