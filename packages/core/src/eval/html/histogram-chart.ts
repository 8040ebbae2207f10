import { axisTicks, roundSteps, verticalLine } from './interval-chart.ts';
import { html, type Markup } from './markup.ts';
import { countOf, widthText } from './number-text.ts';
import { variantClass, variantLabel } from './variant-mark.ts';

export interface HistogramSeries {
  readonly variant: number;
  readonly name: string;
  readonly values: readonly number[];
}

const bins = 30;
const height = 64;
/**
 * A far outlier would press everything else into the first bar: beyond this many times the 95th
 * percentile the last bar takes all.
 */
const farAway = 3;

/** Distribution of values: a row of bars for each variant, all on one axis. */
export function histogramChart(
  series: readonly HistogramSeries[],
  text: (value: number) => string,
): Markup {
  const axis = axisOf(series.flatMap(({ values }) => values));
  const rows = series.map((one) => histogramRow(one, axis, text));
  const ticks = axis.ticks.map((tick) => ({
    at: axis.to > 0 ? tick / axis.to : 0,
    text: text(tick),
  }));
  return html`<div class="histogram">${rows}<div aria-hidden="true">${axisTicks(ticks)}</div>${
    axis.isCut && html`<p class="note">The last bar has everything above ${text(axis.to)}.</p>`
  }</div>`;
}

interface HistogramAxis {
  readonly to: number;
  readonly ticks: readonly number[];
  readonly isCut: boolean;
}

function axisOf(values: readonly number[]): HistogramAxis {
  const sorted = values.toSorted((a, b) => a - b);
  const most = sorted.at(-1) ?? 0;
  const usual = percentile(sorted, 0.95);
  const isCut = usual > 0 && most > usual * farAway;
  const ticks = roundSteps(isCut ? usual * 1.25 : most, 4);
  return { to: ticks.at(-1) ?? 0, ticks, isCut };
}

function histogramRow(
  { variant, name, values }: HistogramSeries,
  axis: HistogramAxis,
  text: (value: number) => string,
): Markup {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = percentile(sorted, 0.5);
  const late = percentile(sorted, 0.95);
  const label =
    `${countOf(values.length, 'trial')}: half of them up to ${text(middle)}, 95% up to ` +
    `${text(late)}, at most ${text(sorted.at(-1) ?? 0)}`;
  const range = html`<span class="range">p50 ${text(middle)} · p95 ${text(late)}</span>`;
  const size = html`width="100%" height="${height}"`;
  const lines = [
    verticalLine('line-p50', widthText(middle / axis.to)),
    verticalLine('line-p95', widthText(late / axis.to)),
  ];
  const heading = html`${variantLabel(variant, name)} ${range}`;
  const drawn = bars(values, axis, { variant, text });
  return html`<div class="histogram-row"><div class="histogram-label">${heading}</div>
<svg class="drawing" role="img" aria-label="${label}" ${size}>${drawn}
<line class="base-line" x1="0" x2="100%" y1="${height}" y2="${height}"/>
${lines}</svg></div>`;
}

function bars(
  values: readonly number[],
  { to, isCut }: HistogramAxis,
  { variant, text }: { readonly variant: number; readonly text: (value: number) => string },
): Markup {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    const bin = to > 0 ? Math.min(bins - 1, Math.max(0, Math.floor((value / to) * bins))) : 0;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(...counts, 1);
  const edge = (bin: number): string => text((bin / bins) * to);
  const range = (bin: number): string =>
    isCut && bin === bins - 1 ? `above ${edge(bin)}` : `${edge(bin)} to ${edge(bin + 1)}`;
  const drawn = counts.map((count, bin) => {
    if (count === 0) return undefined;
    const size = Math.max(2, Math.round((count / most) * (height - 4) * 10) / 10);
    const [x, y] = [widthText((bin + 0.06) / bins), Math.round((height - size) * 10) / 10];
    const across = html`x="${x}" width="${widthText(0.88 / bins)}"`;
    const title = html`<title>${range(bin)}: ${countOf(count, 'trial')}</title>`;
    const along = html`y="${y}" height="${size}"`;
    return html`<rect class="bar ${variantClass(variant)}" ${across} ${along}>${title}</rect>`;
  });
  return html`${drawn}`;
}

/** The value that this share of the sorted values does not exceed. */
function percentile(sorted: readonly number[], share: number): number {
  return (
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? 0
  );
}
