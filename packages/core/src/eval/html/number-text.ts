/**
 * Numbers as people read them. The locale is fixed, so that the same report makes the same page
 * anywhere.
 */

export function countText(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * A share from 0 to 1. What is not all is never rounded up to 100%, and what is not nothing never
 * down to 0%.
 */
export function percentText(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const percent = share * 100;
  if (percent > 99.5 && percent < 100) return `${Math.floor(percent * 10) / 10}%`;
  if (percent > 0 && percent < 0.5) return `${Math.ceil(percent * 10) / 10}%`;
  return `${Math.round(percent)}%`;
}

/** A difference of shares in percentage points, with its sign. */
export function pointsText(difference: number): string {
  if (!Number.isFinite(difference)) return '–';
  const points = Math.round(difference * 1000) / 10;
  return `${signOf(points)}${Math.abs(points)} pp`;
}

export function scoreText(score: number): string {
  return Number.isFinite(score) ? score.toFixed(2) : '–';
}

export function signedScoreText(difference: number): string {
  if (!Number.isFinite(difference)) return '–';
  const rounded = Math.round(difference * 1000) / 1000;
  return `${signOf(rounded)}${Math.abs(rounded).toFixed(3)}`;
}

/** Milliseconds. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  const length = Math.abs(ms);
  if (length < 999.5)
    return `${length < 10 ? Math.round(length * 10) / 10 : Math.round(length)} ms`;
  if (length < 59_950) return `${(length / 1000).toFixed(1)} s`;
  const seconds = Math.round(length / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** US dollars: two digits that say something, also for small amounts. */
export function costText(dollars: number): string {
  if (!Number.isFinite(dollars)) return '–';
  const amount = Math.abs(dollars);
  if (amount === 0) return '$0';
  if (amount < 0.000_001) return '< $0.000001';
  return amount < 0.1
    ? `$${plainDecimal(amount)}`
    : `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Two significant digits and no exponent. */
function plainDecimal(amount: number): string {
  return amount.toLocaleString('en-US', { maximumSignificantDigits: 2, useGrouping: false });
}

/** A signed text of a difference whose size is written by `text`. */
export function signedText(difference: number, text: (size: number) => string): string {
  return `${Number.isFinite(difference) ? signOf(difference) : ''}${text(Math.abs(difference))}`;
}

function signOf(value: number): string {
  if (value === 0) return '';
  return value > 0 ? '+' : '−';
}

/** Epoch milliseconds as date and minute in UTC. */
export function timeText(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime())
    ? 'unknown time'
    : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** For the geometry of charts: a share of the width, from 0 to 1, as an SVG length. */
export function widthText(share: number): string {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return `${Math.round(bounded * 10_000) / 100}%`;
}
