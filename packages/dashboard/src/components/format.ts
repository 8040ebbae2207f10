const clockTime = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const minuteTime = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dayTime = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const wholeTime = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'full',
  timeStyle: 'long',
});
const counted = new Intl.NumberFormat('en');
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Time of day, in the reader's zone. */
export function clock(at: number, { withMs = false } = {}): string {
  const text = clockTime.format(at);
  return withMs ? `${text}.${String(Math.floor(at % second)).padStart(3, '0')}` : text;
}

/** Time of day for today, otherwise the day too. */
export function moment(at: number, now: number): string {
  return (isSameDay(at, now) ? clockTime : dayTime).format(at);
}

/** Hour and minute for today, otherwise the day too. */
export function minuteOf(at: number, now: number): string {
  return (isSameDay(at, now) ? minuteTime : dayTime).format(at);
}

function isSameDay(at: number, now: number): boolean {
  return new Date(at).toDateString() === new Date(now).toDateString();
}

/** Day, time and zone, for those who point at a time. */
export function fullTime(at: number): string {
  return wholeTime.format(at);
}

export function duration(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(2)} s`;
  if (ms < minute) return `${(ms / second).toFixed(1)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.round((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${Math.round((ms % hour) / minute)} min`;
  return `${Math.floor(ms / day)} d ${Math.round((ms % day) / hour)} h`;
}

/** Age in its largest unit: "3 min". */
export function age(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.floor(ms / second))} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} d`;
}

/** Minutes and seconds that are left or gone: "3:17". */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second));
  const minutes = Math.floor(seconds / 60);
  const rest = String(seconds % 60).padStart(2, '0');
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}

export function count(value: number): string {
  return counted.format(value);
}

/** US dollars, with as many digits as small amounts need. */
export function money(dollars: number): string {
  return dollars !== 0 && Math.abs(dollars) < 1
    ? `$${dollars.toFixed(4)}`
    : `$${dollars.toFixed(2)}`;
}

/** "1 session", "2 sessions". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const bytesInKilobyte = 1_024;

/** "120 bytes", "97.7 KB", "1.2 MB". */
export function bytes(size: number): string {
  if (size < bytesInKilobyte) return plural(size, 'byte');
  const kilobytes = size / bytesInKilobyte;
  return kilobytes < bytesInKilobyte
    ? `${kilobytes.toFixed(1)} KB`
    : `${(kilobytes / bytesInKilobyte).toFixed(1)} MB`;
}
