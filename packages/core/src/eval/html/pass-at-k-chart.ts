import type { PassAtK, VariantReport } from '../report.ts';
import { axisTicks } from './interval-chart.ts';
import { html, type Markup, shortLine } from './markup.ts';
import { percentText, widthText } from './number-text.ts';
import { longestName, variantClass, variantShape } from './variant-mark.ts';

const height = 180;
const levels = [0, 0.25, 0.5, 0.75, 1];
/** More numbers than this would run into each other on a phone. */
const mostTicks = 8;

/**
 * Chance that one of k trials passes (solid) and that all of k do (dashed). `undefined` with one
 * trial of each case: there is no curve then.
 */
export function passAtKChart(variants: readonly VariantReport[]): Markup | undefined {
  const most = Math.max(0, ...variants.flatMap(({ summary }) => summary.passAtK.map(({ k }) => k)));
  if (most < 2) return undefined;
  const x = (k: number): number => (k - 1) / (most - 1);
  const lines = variants.map(({ summary }, variant) => [
    curve(summary.passAllK, x, `curve dashed ${variantClass(variant)}`),
    curve(summary.passAtK, x, `curve ${variantClass(variant)}`),
    summary.passAtK.map(({ k, value }) => {
      const place = html`x="${widthText(x(k))}" y="${yOf(value)}"`;
      return html`<svg ${place} overflow="visible">${variantShape(variant)}</svg>`;
    }),
  ]);
  const label = html`role="img" aria-label="${describe(variants)}"`;
  const size = html`width="100%" height="${height}"`;
  const ticks = ticksOf(most).map((k) => ({ at: x(k), text: `k = ${k}` }));
  const drawn = html`${levels.map(level)}${lines}`;
  return html`<div class="curve-plot"><svg class="drawing" ${label} ${size}>${drawn}</svg>
<div aria-hidden="true">${axisTicks(ticks)}</div></div>`;
}

function yOf(value: number): number {
  const bounded = Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0));
  return Math.round((1 - bounded) * height * 10) / 10;
}

function level(value: number): Markup {
  const y = yOf(value);
  const text = percentText(value);
  const line = html`<line class="grid-line" x1="0" x2="100%" y1="${y}" y2="${y}"/>`;
  return html`${line}<text class="tick" x="-8" y="${y + 4}" text-anchor="end">${text}</text>`;
}

function curve(
  points: readonly PassAtK[],
  x: (k: number) => number,
  name: string,
): readonly Markup[] {
  return points.slice(1).map((point, index) => {
    const from = points[index] ?? point;
    const start = html`x1="${widthText(x(from.k))}" y1="${yOf(from.value)}"`;
    const end = html`x2="${widthText(x(point.k))}" y2="${yOf(point.value)}"`;
    return html`<line class="${name}" ${start} ${end}/>`;
  });
}

function ticksOf(most: number): readonly number[] {
  const step = Math.ceil((most - 1) / (mostTicks - 1));
  return Array.from({ length: Math.floor((most - 1) / step) + 1 }, (_, index) => 1 + index * step);
}

function describe(variants: readonly VariantReport[]): string {
  return variants
    .map(({ name, summary }) => {
      const last = summary.passAtK.at(-1);
      const first = summary.passAtK[0];
      return (
        `${shortLine(name, longestName)}: ${percentText(first?.value ?? 0)} with one trial, ` +
        `${percentText(last?.value ?? 0)} with ${last?.k ?? 1}`
      );
    })
    .join('; ');
}
