/** Ranges of minute, hour, day of the month, month, day of the week. */
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

/** Returns the values of one field: numbers, ranges, steps and lists of them. */
function valuesOf(field: string, [low, high]: readonly [number, number]): ReadonlySet<number> {
  const values = field.split(',').flatMap((part) => {
    const [range = '', step = '1'] = part.split('/');
    const [from = 0, to = from] = range === '*' ? [low, high] : range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
      (value) => (value - from) % Number(step) === 0,
    );
  });
  return new Set(values);
}

/** The five numbers of a local minute. */
function clockOf(local: number): readonly number[] {
  const at = new Date(local * 60_000);
  const date = [at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCDay()];
  return [at.getUTCMinutes(), at.getUTCHours(), ...date];
}

/** Returns a test for a clock, and whether the pattern fits in every hour. */
function reading(pattern: string) {
  const fields = pattern.split(' ');
  const sets = ranges.map((range, index) => valuesOf(fields[index] as string, range));
  const has = (clock: readonly number[], index: number) => sets[index]?.has(clock[index] ?? -1);
  // When both days are restricted, either of them will do.
  const both = fields[2] !== '*' && fields[4] !== '*';
  const isDay = (clock: readonly number[]) =>
    both ? has(clock, 2) || has(clock, 4) : has(clock, 2) && has(clock, 4);
  const fits = (clock: readonly number[]) =>
    has(clock, 0) && has(clock, 1) && has(clock, 3) && isDay(clock);
  return { fits, hourly: sets[1]?.size === 24 };
}

/** The instants of cron patterns in (`from`, `until`], found by looking at every minute. */
export function referenceInstants(
  patterns: readonly string[],
  timeZone: string,
  from: number,
  until: number,
): readonly (readonly number[])[] {
  const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  const options = { timeZone, hourCycle: 'h23', ...digits, minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('sv-SE', options);
  // Local minutes are counted in a calendar without zones: `2027-03-14 02:30`.
  const localOf = (minute: number): number =>
    Date.parse(`${format.format(minute * 60_000).replace(' ', 'T')}Z`) / 60_000;
  const read = patterns.map(reading);
  const found = patterns.map((): number[] => []);
  let latest = localOf(from / 60_000);
  for (let minute = from / 60_000 + 1; minute <= until / 60_000; minute++) {
    const local = localOf(minute);
    const leapt: (readonly number[])[] = [];
    for (; latest < local; latest++) leapt.push(clockOf(latest + 1));
    const shown = [clockOf(local)];
    read.forEach(({ fits, hourly }, index) => {
      if ((hourly ? shown : leapt).some(fits)) found[index]?.push(minute * 60_000);
    });
  }
  return found;
}
