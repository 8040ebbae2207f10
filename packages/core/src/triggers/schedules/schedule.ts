/** Instants by a cron pattern, in the local time of a zone. Made by `cron`. */
export interface CronSchedule {
  readonly kind: 'cron';
  readonly pattern: string;
  readonly timeZone: string;
}

/** Instants at equal distances. Made by `every`. */
export interface IntervalSchedule {
  readonly kind: 'every';
  readonly everyMs: number;
  /** Largest delay of one firing in milliseconds; `0` for none. */
  readonly jitterMs: number;
}

/** One instant. Made by `at`. */
export interface OnceSchedule {
  readonly kind: 'at';
  /** Epoch milliseconds. */
  readonly instant: number;
}

/** The instants of a trigger, as plain JSON. */
export type Schedule = CronSchedule | IntervalSchedule | OnceSchedule;
