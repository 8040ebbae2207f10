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
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns US dollars as text: in cents, and below 10 cents with two significant digits. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0';
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
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
