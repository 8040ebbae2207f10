import type { Interval } from '../report.ts';
import { type Content, html, type Markup } from './markup.ts';
import { widthText } from './number-text.ts';
import { variantClass, variantShape } from './variant-mark.ts';

export interface IntervalRow {
  /** The heading of this row and those after it. */
  readonly heading?: Content;
  readonly label: Content;
  readonly variant: number;
  readonly interval: Interval;
  /** The estimate and its interval as text, beside the drawing. */
  readonly value: string;
  readonly range: string;
  readonly note?: Content;
}

export interface IntervalAxis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
  readonly tickText: (at: number) => string;
  /** A line over all rows, such as a threshold. */
  readonly line?: number;
  /**
   * The meaning of the line: a value to reach, or the place of no difference.
   * @default 'threshold'
   */
  readonly lineKind?: 'threshold' | 'zero';
}

/**
 * Estimates with their intervals on one axis, a row each. The numbers stand beside the drawing, so
 * that it need not be read.
 */
export function intervalChart(rows: readonly IntervalRow[], axis: IntervalAxis): Markup {
  const drawn = rows.map((row) => intervalRow(row, axis));
  return html`<div class="interval-chart">${drawn}${axisRow(axis)}</div>`;
}

function intervalRow(row: IntervalRow, axis: IntervalAxis): Markup {
  const heading = row.heading !== undefined && html`<h4>${row.heading}</h4>`;
  const range = html`<span class="range">${row.range}</span>`;
  return html`${heading}<div class="interval-row"><div class="interval-label">${row.label}</div>
<div class="interval-plot">${drawing(row, axis)}</div>
<div class="interval-value"><strong>${row.value}</strong>${row.note} ${range}</div></div>`;
}

function drawing({ variant, interval }: IntervalRow, axis: IntervalAxis): Markup {
  const [low, at, high] = [interval.low, interval.value, interval.high].map((value) =>
    place(value, axis),
  ) as [string, string, string];
  return html`<svg class="drawing" aria-hidden="true">${gridLines(axis)}
<line class="span ${variantClass(variant)}" x1="${low}" x2="${high}" y1="50%" y2="50%"/>
<svg x="${at}" y="50%" overflow="visible">${variantShape(variant)}</svg></svg>`;
}

function gridLines(axis: IntervalAxis): Markup {
  const { ticks, line, lineKind = 'threshold' } = axis;
  const grid = ticks.map((tick) => verticalLine('grid-line', place(tick, axis)));
  return html`${grid}${line !== undefined && verticalLine(`line-${lineKind}`, place(line, axis))}`;
}

export function verticalLine(name: string, x: string): Markup {
  return html`<line class="${name}" x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
}

function axisRow(axis: IntervalAxis): Markup {
  const ticks = axis.ticks.map((tick) => ({ at: share(tick, axis), text: axis.tickText(tick) }));
  return html`<div class="interval-row axis" aria-hidden="true">${[
    html`<div class="interval-label"></div>`,
    html`<div class="interval-plot">${axisTicks(ticks)}</div>`,
    html`<div class="interval-value"></div>`,
  ]}</div>`;
}

/** The numbers below a drawing. The outermost ones stay within it. */
export function axisTicks(
  ticks: readonly { readonly at: number; readonly text: string }[],
): Markup {
  const texts = ticks.map(({ at, text }) => {
    const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle';
    const place = html`x="${widthText(at)}" y="12" text-anchor="${anchor}"`;
    return html`<text class="tick" ${place}>${text}</text>`;
  });
  return html`<svg class="drawing" width="100%" height="16">${texts}</svg>`;
}

function share(value: number, { from, to }: IntervalAxis): number {
  return to > from ? (value - from) / (to - from) : 0;
}

function place(value: number, axis: IntervalAxis): string {
  return widthText(share(value, axis));
}

/** Steps of 1, 2 or 5 times a power of ten from 0 to at least `most`, about `count` of them. */
export function roundSteps(most: number, count: number): readonly number[] {
  if (!(most > 0) || !Number.isFinite(most)) return [0];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999_999) ?? 10);
  return Array.from({ length: Math.ceil(most / step - 0.000_001) + 1 }, (_, index) => index * step);
}
