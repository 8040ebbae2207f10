import { afterThisTurn, systemClock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import { isAdjutantError, toErrorRecord } from '../base/error.ts';
import { systemIds } from '../base/id.ts';
import { Runtime } from '../runtime.ts';
import { checkEvalOptions } from './check-eval-options.ts';
import type { Dataset, EvalCase } from './dataset/eval-case.ts';
import { parseDataset } from './dataset/parse-dataset.ts';
import { readDataset } from './dataset/read-dataset.ts';
import { InvalidEvalError } from './errors.ts';
import { EvalLog, type LoggedRun } from './eval-log.ts';
import type { EvalOptions, EvalVariant, TrialPlace, TrialSubject } from './eval-options.ts';
import type { EvalReport, TrialReport } from './report.ts';
import { responseMatch } from './scorers/response-match.ts';
import type { Scorer } from './scorers/scorer.ts';
import { stateMatch } from './scorers/state-match.ts';
import { toolTrajectory } from './scorers/tool-trajectory.ts';
import { caseReport, compareVariants, methods, variantReport } from './summary.ts';
import { EvalStoppedError, UserModelMissingError } from './trial/errors.ts';
import { runTrial, type TrialOutcome } from './trial/run-trial.ts';
import { scoredReport } from './trial/score-trial.ts';
import { trialSession, variantFingerprint } from './trial/trial-identity.ts';
import { VariantApps } from './variant-apps.ts';

const defaultConcurrency = 4;
const defaultTimeoutMs = 300_000;
const defaultConfidence = 0.95;
const mostPassK = 10;
const longestTurnMs = 20;

/**
 * Runs every case of a dataset with every variant, as often as `trials` says, and scores what came
 * of it. Each trial is a run in a session of its own, in the store of its app, under a name that
 * depends on nothing but the run of the eval and what is run: an eval that was interrupted, in
 * whatever way, goes on where it stopped when it is given its `runId`, or `continue: true`. What
 * has ended is read from its ledger, no model is asked again for it, and no judge. A trial that
 * fails does not stop the others.
 * @throws InvalidEvalError, InvalidDatasetError, UserModelMissingError, what the app of a variant
 * throws when it is opened, StoreUnavailableError
 * @example
 * ```ts
 * import { agent, runtime } from 'adjutant';
 * import { evaluate } from 'adjutant/eval';
 * import { scriptedModel } from 'adjutant/testing';
 * const runnable = agent({ name: 'guide', model: scriptedModel(() => ({ text: 'Paris' })) });
 * const report = await evaluate({
 *   name: 'capitals',
 *   dataset: [{ id: 'france', input: 'Capital of France?', expect: { response: 'Paris' } }],
 *   variants: [{ name: 'now', app: runtime({ app: 'evals' }), runnable }],
 * });
 * console.log(report.passed); // true
 * ```
 */
export async function evaluate(options: EvalOptions): Promise<EvalReport> {
  checkEvalOptions(options);
  const dataset = await datasetOf(options);
  // Nobody wants to learn it from the trial.
  const scenario = dataset.cases.find((one) => one.scenario !== undefined);
  if (scenario !== undefined && options.userModel === undefined)
    throw new UserModelMissingError({ case: scenario.id });
  const apps = new VariantApps(options.name);
  try {
    await apps.refuseRecovery(options.variants);
    return await new Evaluation(options, dataset, apps).report();
  } finally {
    await apps.close();
  }
}

async function datasetOf({ dataset: given, only, name }: EvalOptions): Promise<Dataset> {
  const isFile = typeof given === 'string' || given instanceof URL;
  const dataset = isFile
    ? await readDataset(given)
    : parseDataset(given, 'source' in given ? given.source : `of the eval "${name}"`);
  const cases = only === undefined ? dataset.cases : dataset.cases.filter(only);
  if (cases.length > 0) return { ...dataset, cases };
  const reason =
    dataset.cases.length === 0
      ? 'its dataset has no cases'
      : `\`only\` leaves none of the ${dataset.cases.length} cases`;
  throw new InvalidEvalError({ name, reason });
}

/** A trial that is to be run. */
interface PlannedTrial {
  readonly variant: EvalVariant;
  readonly place: TrialPlace;
}

/** One call of `evaluate`. */
class Evaluation {
  readonly #options: EvalOptions;
  readonly #dataset: Dataset;
  readonly #apps: VariantApps;
  readonly #scorers: readonly Scorer[];
  readonly #trials: number;
  readonly #reports = new Map<string, TrialReport[]>();
  readonly #stop = new AbortController();
  #failure: { readonly error: unknown } | undefined;
  /** When others were heard last, on the system's clock. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #done = 0;
  #passed = 0;

  constructor(options: EvalOptions, dataset: Dataset, apps: VariantApps) {
    this.#options = options;
    this.#dataset = dataset;
    this.#apps = apps;
    this.#scorers = options.scorers ?? [toolTrajectory(), responseMatch(), stateMatch()];
    this.#trials = options.trials ?? 1;
  }

  get #total(): number {
    return this.#dataset.cases.length * this.#options.variants.length * this.#trials;
  }

  async report(): Promise<EvalReport> {
    const { signal, onProgress, name, variants } = this.#options;
    const log = await this.#openLog();
    const run = await log.begin(await this.#runId(log));
    const onAbort = (): void => this.#stop.abort(new EvalStoppedError());
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    try {
      onProgress?.({
        type: 'start',
        name,
        runId: run.runId,
        total: this.#total,
        variants: variants.map((variant) => variant.name),
        cases: this.#dataset.cases.length,
        trials: this.#trials,
      });
      await this.#runAll(this.#plan(run.runId, await this.#fingerprints()));
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    const isFinished = this.#done === this.#total;
    const report = await this.#reportOf(run, isFinished);
    if (!isFinished) return report;
    const { finishedAt = run.startedAt } = await log.finish(run.runId, summaryOf(report));
    return { ...report, finishedAt };
  }

  /** The list of runs lies where the trials lie, so that whoever has these has it too. */
  async #openLog(): Promise<EvalLog> {
    const { store, variants, name, ports } = this.#options;
    const [first] = variants;
    const clock = ports?.clock ?? systemClock;
    if (store !== undefined)
      return new EvalLog(
        new Runtime({
          app: 'eval',
          store,
          recover: 'manual',
          ...defined({ ports }),
        }),
        name,
        clock,
      );
    if (first !== undefined && !('open' in first))
      return new EvalLog(await this.#apps.sharedApp(first), name, clock);
    if (this.#options.continue === true) {
      throw new InvalidEvalError({
        name,
        reason:
          '`continue` needs a `store` when each trial has an app of its own, or the ' +
          '`runId` of what is to be continued',
      });
    }
    return new EvalLog(new Runtime({ app: 'eval', ...defined({ ports }) }), name, clock);
  }

  async #runId(log: EvalLog): Promise<string> {
    const { runId, continue: goesOn = false, ports } = this.#options;
    if (runId !== undefined) return runId;
    const open = goesOn
      ? (await log.runs()).findLast(({ finishedAt }) => finishedAt === undefined)
      : undefined;
    return open?.runId ?? `eval-${(ports?.ids ?? systemIds).next()}`;
  }

  #fingerprints(): Promise<readonly string[]> {
    return Promise.all(
      this.#options.variants.map(async (variant) => {
        const tools = 'open' in variant ? [] : (await this.#apps.sharedApp(variant)).tools.list();
        return variantFingerprint(variant, tools, this.#options);
      }),
    );
  }

  /** Variants take turns, so that what has been done when it stops can be compared. */
  *#plan(runId: string, prints: readonly string[]): Generator<PlannedTrial> {
    const { variants, name: evalName } = this.#options;
    for (const evalCase of this.#dataset.cases) {
      for (let trial = 1; trial <= this.#trials; trial++) {
        for (const [i, variant] of variants.entries()) {
          const session = trialSession({
            evalName,
            runId,
            variant: variant.name,
            variantFingerprint: prints[i] as string,
            case: evalCase,
            trial,
          });
          yield {
            variant,
            place: { runId, variant: variant.name, case: evalCase, trial, session },
          };
        }
      }
    }
  }

  async #runAll(planned: Generator<PlannedTrial>): Promise<void> {
    const { concurrency = defaultConcurrency } = this.#options;
    const worker = async (): Promise<void> => {
      for (let next = this.#next(planned); next !== undefined; next = this.#next(planned)) {
        await this.#runOne(next);
        await this.#letOthersBeHeard();
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, this.#total) }, worker));
  }

  /**
   * Trials that wait for nothing outside would keep timers, signals and whoever shows the progress
   * from being heard.
   */
  async #letOthersBeHeard(): Promise<void> {
    if (systemClock.monotonic() - this.#heardAt < longestTurnMs) return;
    await new Promise<void>(afterThisTurn);
    this.#heardAt = systemClock.monotonic();
  }

  #next(planned: Generator<PlannedTrial>): PlannedTrial | undefined {
    if (this.#stop.signal.aborted) return undefined;
    const { done, value } = planned.next();
    return done === true ? undefined : value;
  }

  /** Never rejects: what goes wrong is the trial's, or ends the eval. */
  async #runOne({ variant, place }: PlannedTrial): Promise<void> {
    const { case: evalCase, trial, session } = place;
    try {
      this.#options.onProgress?.({
        type: 'trial_start',
        variant: variant.name,
        case: evalCase.id,
        trial,
        session,
      });
      const found = await this.#trial(variant, place);
      if (found === undefined) return;
      const { report, recorded } = found;
      this.#keep(variant.name, evalCase, report);
      const progress = {
        type: 'trial_end',
        variant: variant.name,
        case: evalCase.id,
        trial: report,
        recorded,
      } as const;
      this.#options.onProgress?.({
        ...progress,
        done: this.#done,
        passed: this.#passed,
        total: this.#total,
      });
    } catch (error) {
      this.#failure ??= { error };
      this.#stop.abort(new EvalStoppedError());
    }
  }

  #keep(variant: string, { id }: EvalCase, report: TrialReport): void {
    const key = JSON.stringify([variant, id]);
    this.#reports.set(key, [...(this.#reports.get(key) ?? []), report]);
    this.#done++;
    if (report.passed) this.#passed++;
  }

  /** `undefined`: it was stopped. */
  async #trial(
    variant: EvalVariant,
    place: TrialPlace,
  ): Promise<{ readonly report: TrialReport; readonly recorded: boolean } | undefined> {
    let subject: TrialSubject | undefined;
    try {
      subject = await this.#apps.subjectOf(variant, place);
      const { record, recorded } = await this.#carryOut(subject, place);
      return {
        report: await scoredReport(record, { ...this.#parts, scorers: this.#scorers }),
        recorded,
      };
    } catch (error) {
      const isStopped =
        isAdjutantError(error, 'eval_stopped') || isAdjutantError(error, 'run_stopped');
      if (this.#stop.signal.aborted && isStopped) return undefined;
      return { report: failedReport(place, error), recorded: false };
    } finally {
      await closeQuietly(subject);
    }
  }

  get #parts(): {
    readonly timeoutMs: number;
    readonly clock: NonNullable<NonNullable<EvalOptions['ports']>['clock']>;
    readonly stop: AbortSignal;
  } {
    const { timeoutMs = defaultTimeoutMs, ports } = this.#options;
    return { timeoutMs, clock: ports?.clock ?? systemClock, stop: this.#stop.signal };
  }

  #carryOut(subject: TrialSubject, place: TrialPlace): Promise<TrialOutcome> {
    return runTrial({
      ...this.#parts,
      evalName: this.#options.name,
      place,
      subject,
      options: this.#options,
    });
  }

  async #reportOf({ runId, startedAt }: LoggedRun, isFinished: boolean): Promise<EvalReport> {
    const { name, variants, threshold, confidence = defaultConfidence, passK } = this.#options;
    const ks = passK ?? Array.from({ length: Math.min(this.#trials, mostPassK) }, (_, i) => i + 1);
    const names = await Promise.all(variants.map((variant) => this.#apps.namesOf(variant)));
    const reports = names.map((variant) => {
      const cases = this.#dataset.cases.map((evalCase) =>
        caseReport(evalCase, this.#reports.get(JSON.stringify([variant.name, evalCase.id])) ?? []),
      );
      return variantReport(variant, cases, { confidence, passK: ks });
    });
    const [baseline, ...others] = reports;
    return {
      format: 'adjutant-eval-report',
      v: 1,
      name,
      runId,
      startedAt,
      total: this.#total,
      done: this.#done,
      variants: reports,
      comparisons:
        baseline === undefined
          ? []
          : others.map((candidate) => compareVariants(baseline, candidate, confidence)),
      ...defined({ threshold }),
      passed:
        isFinished && reports.every(({ summary }) => summary.passRate.value >= (threshold ?? 1)),
      confidence,
      methods,
    };
  }
}

/**
 * Returns the report of a trial that could not be carried out. It is tried again when the eval is
 * continued.
 */
function failedReport({ trial, session }: TrialPlace, error: unknown): TrialReport {
  const usage = { inputTokens: 0, outputTokens: 0 };
  return {
    trial,
    session,
    status: 'error',
    passed: false,
    scores: [],
    durationMs: 0,
    usage,
    steps: 0,
    error: toErrorRecord(error),
    turns: [],
  };
}

/** Closes the resources of a trial. A failure to close them is no finding about the agent. */
async function closeQuietly(subject: TrialSubject | undefined): Promise<void> {
  try {
    await subject?.close?.();
  } catch {
    // As above.
  }
}

function summaryOf({ variants, passed }: EvalReport): {
  readonly passed: boolean;
  readonly passRates: { readonly [variant: string]: number };
} {
  return {
    passed,
    passRates: Object.fromEntries(
      variants.map(({ name, summary }) => [name, summary.passRate.value]),
    ),
  };
}
