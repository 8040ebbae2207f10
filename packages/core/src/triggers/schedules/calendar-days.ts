import { Cron } from 'croner';
import { dayMs } from './zone.ts';

const mostDays = 400;

/** Days of a calendar without zones, which fit the last fields of a cron pattern. */
export interface CalendarDays {
  /**
   * Returns the first day that fits, from the day with a number (since 1970) on, as the epoch
   * milliseconds of its midnight; `undefined` when none is left.
   */
  from(number: number): number | undefined;
}

// `croner` is a calculator here. Without a function it sets no timer, and it is always told the
// instant after which it looks. It computes in UTC: changes of clocks are not its matter.
const options = { paused: true, timezone: 'UTC' } as const;

/** Returns the fault that `croner` finds in a pattern. */
export function readingFault(pattern: string): string | undefined {
  try {
    new Cron(pattern, options);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: |\.$/g, '');
  }
}

/** Returns the days that fit a pattern that can be read. */
export function calendarDays(pattern: string): CalendarDays {
  const cron = new Cron(pattern, options);
  const known = new Map<number, number | undefined>();
  return {
    from: (number) => {
      if (!known.has(number)) {
        if (known.size >= mostDays) known.clear();
        known.set(number, cron.nextRun(new Date(number * dayMs - 1))?.getTime());
      }
      return known.get(number);
    },
  };
}
