const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const msPerMinute = 60_000;

/** Formatters by time zone: they are slow to make. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  // Names differ in case only, and come from users: each zone is kept once.
  const key = timeZone.toLowerCase();
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formatters.set(key, formatter);
  }
  return formatter;
}

/** Checks that a text is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a time in a zone: the day of the week, date and minutes, and the offset from UTC. The
 * texts are put together here, because those of `Intl` differ between versions of Node, and a
 * prompt must stay the same.
 * @param at epoch milliseconds
 * @param timeZone a name that exists
 */
export function zonedTime(
  at: number,
  timeZone: string,
): { readonly text: string; readonly offset: string } {
  const minute = Math.floor(at / msPerMinute) * msPerMinute;
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(minute)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const number = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const [year, month, day] = [number('year'), number('month'), number('day')];
  const local = Date.UTC(year, month - 1, day, number('hour'), number('minute'));
  // Days since Thursday, 1 January 1970.
  const weekday = weekdays[(((Math.floor(local / (24 * 60 * msPerMinute)) + 4) % 7) + 7) % 7];
  const date = [String(year).padStart(4, '0'), two(month), two(day)].join('-');
  return {
    text: `${weekday} ${date} ${two(number('hour'))}:${two(number('minute'))}`,
    offset: offsetOf(Math.round((local - minute) / msPerMinute)),
  };
}

function offsetOf(minutes: number): string {
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
