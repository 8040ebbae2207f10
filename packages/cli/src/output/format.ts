import type { Usage } from 'adjutant';

export function shorten(text: string, longest: number): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, Math.max(0, longest - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)}`;
  return `${minutes} min ${twoDigits(seconds % 60)} s`;
}

export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns US dollars as text: in cents, and below 10 cents with two significant digits. A cost that
 * is not known is `$?`.
 */
export function formatCost(dollars: number | undefined): string {
  if (dollars === undefined) return '$?';
  if (dollars === 0) return '$0.00';
  return dollars < 0.1 ? `$${Number(dollars.toPrecision(2))}` : `$${dollars.toFixed(2)}`;
}

export function formatUsage({ inputTokens, outputTokens }: Usage): string {
  return (
    `${inputTokens.toLocaleString('en-US')} input + ` +
    `${formatCount(outputTokens, 'output token')}`
  );
}

/** Returns the local date and time, to the second. */
export function formatTime(epochMs: number): string {
  const date = new Date(epochMs);
  const month = twoDigits(date.getMonth() + 1);
  return `${date.getFullYear()}-${month}-${twoDigits(date.getDate())} ${clockTime(date)}`;
}

/** Returns the local time: of today to the second, else with its day, and with another year. */
export function formatMoment(epochMs: number, nowMs: number): string {
  const date = new Date(epochMs);
  const now = new Date(nowMs);
  if (date.toDateString() === now.toDateString()) return clockTime(date);
  const day = `${date.getDate()} ${months[date.getMonth()]}`;
  if (date.getFullYear() !== now.getFullYear()) return `${day} ${date.getFullYear()}`;
  return `${day} ${clockTime(date).slice(0, 5)}`;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Returns a number of tokens: `812`, `12.4k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  return count < 999_500 ? `${threeDigits(count / 1_000)}k` : `${threeDigits(count / 1e6)}M`;
}

const sizeUnits = ['kB', 'MB', 'GB', 'TB'];

/** Returns a size: `812 B`, `4.1 kB`, `41 kB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  let size = bytes / 1_000;
  let unit = 0;
  for (; size >= 999.5 && unit < sizeUnits.length - 1; unit++) size /= 1_000;
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${sizeUnits[unit]}`;
}

/** At most one digit behind the point, and none behind three before it. */
function threeDigits(value: number): string {
  return value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}

function clockTime(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
