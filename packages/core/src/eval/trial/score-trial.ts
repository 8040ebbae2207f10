import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError, toErrorRecord } from '../../base/error.ts';
import type { ScoreReport, TrialReport, TurnReport } from '../report.ts';
import { fullScore } from '../scorers/own-scorer.ts';
import type { Scorer, TrialRecord } from '../scorers/scorer.ts';
import { EvalStoppedError, TrialTimeoutError } from './errors.ts';
import { untilStopped } from './trial-user.ts';

export interface ScoringParts {
  readonly scorers: readonly Scorer[];
  /** Milliseconds for each scorer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** Returns the report of a trial with its scores. @throws EvalStoppedError */
export async function scoredReport(record: TrialRecord, parts: ScoringParts): Promise<TrialReport> {
  const scores: ScoreReport[] = [];
  // One after the other, so that no more models are asked at a time than trials are under way.
  for (const scorer of parts.scorers) {
    const score = await scoreBy(scorer, record, parts);
    if (score !== undefined) scores.push(score);
  }
  const { trial, session, status, durationMs, cost, usage, steps, error } = record;
  return {
    trial,
    session: session.id,
    status,
    passed: status === 'completed' && scores.every(({ passed }) => passed),
    scores,
    durationMs,
    ...defined({ cost }),
    usage,
    steps,
    ...defined({ error }),
    turns: record.turns.map(turnReport),
  };
}

async function scoreBy(
  { name, threshold, score }: Scorer,
  record: TrialRecord,
  parts: ScoringParts,
): Promise<ScoreReport | undefined> {
  const { stop, clock, timeoutMs } = parts;
  const over = new AbortController();
  const onStop = (): void => over.abort(new EvalStoppedError());
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  const cancelTimer = clock.setTimer(timeoutMs, () =>
    over.abort(new TrialTimeoutError({ what: `The scorer "${name}"`, timeout: timeoutMs })),
  );
  try {
    const found = await untilStopped(over.signal, clock, async () =>
      fullScore(name, await score(record, { signal: over.signal })),
    );
    return found && { scorer: name, passed: found.score >= threshold, threshold, ...found };
  } catch (thrown) {
    if (stop.aborted) throw new EvalStoppedError();
    // A run that was stopped because the time is over says so only by having been stopped.
    const cause =
      isAdjutantError(thrown, 'run_stopped') && over.signal.aborted ? over.signal.reason : thrown;
    const error = toErrorRecord(cause, 'scorer_failed');
    return {
      scorer: name,
      score: 0,
      passed: false,
      threshold,
      explanation: `The scorer failed: ${error.message}`,
      error,
    };
  } finally {
    stop.removeEventListener('abort', onStop);
    cancelTimer();
  }
}

function turnReport({ user, answer, toolCalls }: TrialRecord['turns'][number]): TurnReport {
  return {
    user,
    ...(answer === '' ? {} : { assistant: answer }),
    toolCalls: toolCalls.map(({ name, args, result }) => ({
      name,
      args,
      ...defined({ status: result?.status }),
    })),
  };
}
