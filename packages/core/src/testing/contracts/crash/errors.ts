import { AdjutantError } from '../../../base/error.ts';
import type { ValueDifference } from './value-difference.ts';

interface CrashPoint {
  /** How and where the run was stopped. */
  readonly point: string;
  /** Where the store has the run. */
  readonly tenant: string;
  /** The events there. */
  readonly boundary: string;
  /** A sentence without its point. */
  readonly what: string;
  /** `left`: without a stop; `right`: continued. */
  readonly differences: readonly ValueDifference[];
}

/** A run that was stopped and continued did not come to the same end as one that was not. */
export class CrashPointError extends AdjutantError {
  constructor({ point, tenant, boundary, what, differences }: CrashPoint) {
    const where = boundary === '' ? point : `${point} (${boundary})`;
    const places = differences.map(({ path, left = 'nothing', right = 'nothing' }) => {
      return (
        `\n  ${path === '' ? 'it' : path}\n    without a stop: ${left}\n    continued:      ` +
        `${right}`
      );
    });
    const data = {
      point,
      tenant,
      boundary,
      what,
      differences: differences.map((one) => ({ ...one })),
    };
    super('crash_point_failed', `${where}: ${what}.${places.join('')}`, data);
  }
}

/** Runs that were stopped did not come to the same end as one that was not. */
export class CrashPointsError extends AdjutantError {
  constructor(
    data: { points: number; failures: readonly { point: string; message: string }[] },
    options?: ErrorOptions,
  ) {
    const { points, failures } = data;
    const shown = failures.slice(0, mostShown).map(({ message }, i) => `\n\n${i + 1}. ${message}`);
    const more =
      failures.length > mostShown ? `\n\n… and ${failures.length - mostShown} more.` : '';
    super(
      'crash_points_failed',
      `${failures.length} of ${points} crash points failed.${shown.join('')}${more}`,
      { points, failures: [...failures] },
      options,
    );
  }
}

/** Failures that a message tells in full; all are in its data. */
const mostShown = 5;
