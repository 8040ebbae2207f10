import type { CanvasSize } from '../../../drawing/canvas.tsx';
import { palette } from '../../../drawing/palette.ts';
import { cross, diamond, hatch } from '../../../drawing/shapes.ts';
import { type Columns, flag } from '../../../ledger/columns.ts';
import type { EventKind } from '../../../ledger/kinds.ts';

/** Heights of marks in pixels, by kind. */
const heights: Readonly<Record<EventKind, number>> = {
  message: 24,
  error: 24,
  wait: 22,
  model: 19,
  tool: 15,
  state: 11,
  decision: 7,
  control: 7,
};
/** Kinds that hide others in one column of pixels, the first before the next. */
const ranks: Readonly<Record<EventKind, number>> = {
  error: 7,
  message: 6,
  wait: 5,
  model: 4,
  tool: 3,
  state: 2,
  decision: 1,
  control: 0,
};
const labelHeight = 15;
const columnWidth = 2;
const mergeWidth = 8;

/** Marks of one column of pixels. */
interface Bucket {
  kind: EventKind;
  decisions: number;
  failures: number;
}

/** Returns the event at a place: event n takes the part [(n-1)/N, n/N) of the width. */
export function seqAtPlace(place: number, count: number): number {
  return Math.max(1, Math.min(count, Math.floor(place * count) + 1));
}

/**
 * Draws the marks of all events in the order of `seq`. With more events than pixels a column shows
 * its tallest mark; decisions and failures are merged, never left out.
 */
export function drawMarks(
  context: CanvasRenderingContext2D,
  { width, height }: CanvasSize,
  columns: Columns,
): void {
  const { count } = columns;
  if (count === 0) return;
  const base = height - labelHeight;
  const each = width / count;
  drawWaits(context, { columns, each, base });
  const number = each < columnWidth ? Math.ceil(width / columnWidth) : count;
  const step = width / number;
  const buckets = bucketsOf(columns, number);
  const markWidth = Math.max(1.5, Math.min(5, step * 0.62));
  for (const [i, bucket] of buckets.entries()) {
    if (bucket === undefined) continue;
    const x = (i + 0.5) * step - markWidth / 2;
    const markHeight = heights[bucket.kind];
    context.fillStyle = palette().colour(`${bucket.kind}-fill`);
    context.beginPath();
    context.roundRect(x, base - markHeight, markWidth, markHeight, [1.5, 1.5, 0, 0]);
    context.fill();
  }
  drawSigns(context, { buckets, step, base });
}

/** Draws what does not depend on the reader's place: the line below the marks, and numbers. */
export function drawScale(
  context: CanvasRenderingContext2D,
  { width, height }: CanvasSize,
  count: number,
): void {
  const colours = palette();
  const base = height - labelHeight + 0.5;
  context.strokeStyle = colours.colour('line');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, base);
  context.lineTo(width, base);
  context.stroke();
  context.fillStyle = colours.colour('text-3');
  context.font = `10.5px ${colours.mono}`;
  context.textBaseline = 'alphabetic';
  const step = niceStep((44 / width) * count);
  for (let seq = step; seq < count; seq += step) {
    const text = seq.toLocaleString('en');
    const half = context.measureText(text).width / 2;
    const x = ((seq - 0.5) / count) * width;
    if (x + half < width) context.fillText(text, x - half, height - 3);
  }
}

function bucketsOf(columns: Columns, number: number): readonly (Bucket | undefined)[] {
  const buckets = new Array<Bucket | undefined>(number);
  const { count } = columns;
  for (let seq = 1; seq <= count; seq++) {
    const place = Math.min(number - 1, Math.floor(((seq - 0.5) / count) * number));
    const kind = columns.kindAt(seq);
    const bucket = buckets[place] ?? { kind, decisions: 0, failures: 0 };
    buckets[place] = bucket;
    if (ranks[kind] > ranks[bucket.kind]) bucket.kind = kind;
    if (kind === 'decision') bucket.decisions++;
    if (kind === 'error') bucket.failures++;
  }
  return buckets;
}

interface WaitArea {
  readonly columns: Columns;
  /** Width of an event. */
  readonly each: number;
  readonly base: number;
}

/** Stretches in which a request waits are hatched. */
function drawWaits(context: CanvasRenderingContext2D, { columns, each, base }: WaitArea): void {
  const colour = palette().colour('wait-fill');
  const draw = (from: number, to: number): void => {
    const x = (from - 1) * each;
    context.globalAlpha = 0.55;
    hatch(context, [x, base - 28, Math.max(1, to * each - x), 28], colour);
    context.globalAlpha = 1;
  };
  let open = 0;
  let from = 0;
  for (let i = 0; i < columns.count; i++) {
    const flags = columns.flags[i] ?? 0;
    if ((flags & flag.asks) !== 0 && open++ === 0) from = i + 1;
    if ((flags & flag.answers) !== 0 && open > 0 && --open === 0) draw(from, i + 1);
  }
  if (open > 0) draw(from, columns.count);
}

interface SignArea {
  readonly buckets: readonly (Bucket | undefined)[];
  /** Width of a bucket. */
  readonly step: number;
  readonly base: number;
}

/** Diamonds of decisions and crosses of failures: those within 8 pixels are one, with a number. */
function drawSigns(context: CanvasRenderingContext2D, { buckets, step, base }: SignArea): void {
  const colours = palette();
  const merged = Math.max(1, Math.ceil(mergeWidth / step));
  for (let i = 0; i < buckets.length; i += merged) {
    const group = buckets.slice(i, i + merged).filter((bucket) => bucket !== undefined);
    const decisions = group.reduce((sum, bucket) => sum + bucket.decisions, 0);
    const failures = group.reduce((sum, bucket) => sum + bucket.failures, 0);
    const x = (i + Math.min(merged, buckets.length - i) / 2) * step;
    if (decisions > 0) {
      context.fillStyle = colours.colour('decision');
      diamond(context, x, base - 37, decisions > 1 ? 5 : 4);
      context.fill();
    }
    if (failures > 0) {
      context.strokeStyle = colours.colour('error');
      context.lineWidth = 1.7;
      cross(context, x, base - 29, failures > 1 ? 3.5 : 3);
      context.stroke();
    }
  }
}

/** Returns the first of 1, 2, 5, 10, 20, 50, … that is not below a number. */
export function niceStep(least: number): number {
  for (let power = 1; ; power *= 10)
    for (const digit of [1, 2, 5]) if (digit * power >= least) return digit * power;
}
