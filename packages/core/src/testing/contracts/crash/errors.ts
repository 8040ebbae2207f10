import { AdjutantError } from '../../../base/error.ts';
import type { ValueDifference } from './value-difference.ts';

interface CrashPoint {
  /** The manner of the stop and its place. */
  readonly point: string;
  /** Tenant of the run in the store. */
  readonly tenant: string;
  /** The events at the place of the stop. */
  readonly boundary: string;
  /** A sentence without its full stop. */
  readonly what: string;
  /** `left`: without a stop; `right`: continued. */
  readonly differences: readonly ValueDifference[];
}

/**
 * Error of a run that was stopped and continued. Its end differs from that of a run without a stop.
 */
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

/** Error of stopped runs that did not reach the same end as one that was not stopped. */
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

/** Number of failures that a message has in full; all are in its data. */
const mostShown = 5;
