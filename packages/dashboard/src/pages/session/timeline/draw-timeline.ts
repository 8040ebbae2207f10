import { duration } from '../../../components/format.ts';
import { firstLine } from '../../../components/visible-text.ts';
import type { CanvasSize } from '../../../drawing/canvas.tsx';
import { palette } from '../../../drawing/palette.ts';
import { cross, diamond, hatch, roundRect } from '../../../drawing/shapes.ts';
import type { Bar } from '../../../ledger/bars.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { FoldedTime } from '../../../ledger/folded-time.ts';
import { niceStep } from '../strip/draw-strip.ts';
import type { TimelineRows } from './rows.ts';
import type { TimeView } from './time-view.ts';

/** Everything that the timeline is drawn from. */
export interface TimelineScene {
  readonly columns: Columns;
  readonly bars: readonly Bar[];
  readonly rows: TimelineRows;
  readonly time: FoldedTime;
  readonly view: TimeView;
  /** Instant of the newest event: open bars end there. */
  readonly end: number;
  /** Instant of the first event, from which the ruler counts. */
  readonly start: number;
}

export const rowHeight = 28;
export const rulerHeight = 22;
const padding = 10;
const drawOrder: readonly Bar['kind'][] = ['invocation', 'wait', 'tool', 'error', 'model'];

/** Returns the place on the canvas of an instant. */
export function placeOfInstant(
  { time, view }: TimelineScene,
  instant: number,
  width: number,
): number {
  const share = (time.place(instant) - view.from) / Math.max(1, view.to - view.from);
  return padding + share * (width - padding - 2);
}

/** Returns the instant at a place on the canvas. */
export function instantAtPlace({ time, view }: TimelineScene, x: number, width: number): number {
  const share = (x - padding) / Math.max(1, width - padding - 2);
  return time.instant(view.from + share * (view.to - view.from));
}

/** Draws ruler, lines and gaps: what is the same wherever the reader is. */
export function drawGround(
  context: CanvasRenderingContext2D,
  { width, height }: CanvasSize,
  scene: TimelineScene,
): void {
  const colours = palette();
  context.font = `11px ${colours.sans}`;
  context.textBaseline = 'middle';
  context.lineWidth = 1;
  context.strokeStyle = colours.colour('line');
  context.globalAlpha = 0.6;
  for (let row = 0; row < scene.rows.rows.length; row++) {
    const y = rulerHeight + row * rowHeight + 0.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  context.globalAlpha = 1;
  drawRuler(context, { width, height }, scene);
  for (const { from, to } of scene.time.gaps) {
    const x = placeOfInstant(scene, from, width);
    const until = placeOfInstant(scene, to, width);
    if (until < 0 || x > width) continue;
    context.fillStyle = colours.colour('sunken');
    context.fillRect(x, rulerHeight, until - x, height - rulerHeight);
    const text = duration(to - from);
    const wide = context.measureText(text).width;
    context.fillStyle = colours.colour('text-3');
    if (until - x > wide + 4) context.fillText(text, (x + until - wide) / 2, 12);
  }
}

const pixelsBetweenMarks = 96;

function drawRuler(
  context: CanvasRenderingContext2D,
  { width, height }: CanvasSize,
  scene: TimelineScene,
): void {
  const colours = palette();
  const { view, time, start, end } = scene;
  const step = niceStep(((view.to - view.from) / Math.max(1, width)) * pixelsBetweenMarks);
  const first = Math.floor((time.instant(view.from) - start) / step) * step;
  let last = Number.NEGATIVE_INFINITY;
  for (
    let ms = Math.max(0, first), drawn = 0;
    start + ms <= end && drawn < 500;
    ms += step, drawn++
  ) {
    const instant = start + ms;
    if (time.gaps.some(({ from, to }) => instant > from && instant < to)) continue;
    const x = placeOfInstant(scene, instant, width);
    if (x > width + 10) break;
    if (x < -40) continue;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, rulerHeight);
    context.lineTo(Math.round(x) + 0.5, height);
    context.stroke();
    if (x - last < 50 || x > width - 30) continue;
    context.fillStyle = colours.colour('text-3');
    context.fillText(duration(ms).replace(/\.00? s/, ' s'), x + 4, 12);
    last = x;
  }
}

/** Draws bars and marks of all events that are in sight. */
export function drawEvents(
  context: CanvasRenderingContext2D,
  { width }: CanvasSize,
  scene: TimelineScene,
): void {
  const { bars, rows, end, columns } = scene;
  for (const kind of drawOrder) {
    let drawnTo = new Map<number, number>();
    for (const bar of bars) {
      if (bar.kind !== kind) continue;
      const x = placeOfInstant(scene, bar.startedAt, width);
      const until = placeOfInstant(scene, Math.min(bar.endedAt, end), width);
      if (until < -2 || x > width + 2) continue;
      const row = rows.rowOf[bar.invocation] ?? -1;
      if (row < 0) continue;
      // Of many bars in one pixel the first is enough.
      if (until - x < 1 && (drawnTo.get(row) ?? -1) >= Math.floor(x)) continue;
      drawnTo = drawnTo.set(row, Math.floor(until));
      drawBar(context, bar, [x, Math.max(2, until - x), rulerHeight + row * rowHeight]);
    }
  }
  drawMarksOf(context, width, scene, columns);
}

function drawBar(
  context: CanvasRenderingContext2D,
  bar: Bar,
  [x, width, y]: readonly [number, number, number],
): void {
  const colours = palette();
  if (bar.kind === 'invocation') {
    context.fillStyle = colours.colour('control-soft');
    roundRect(context, [x, y + 5, width, rowHeight - 10], 4);
    context.fill();
    context.strokeStyle = colours.colour('line-2');
    context.lineWidth = 1;
    roundRect(context, [x + 0.5, y + 5.5, Math.max(1, width - 1), rowHeight - 11], 4);
    context.stroke();
    return;
  }
  if (bar.kind === 'wait') {
    context.fillStyle = colours.colour('wait-soft');
    roundRect(context, [x, y + 7, width, rowHeight - 14], 3);
    context.fill();
    hatch(context, [x, y + 7, width, rowHeight - 14], colours.colour('wait-fill'));
    context.strokeStyle = colours.colour('wait');
    context.lineWidth = 1;
    roundRect(context, [x + 0.5, y + 7.5, Math.max(1, width - 1), rowHeight - 15], 3);
    context.stroke();
    return;
  }
  const isModel = bar.kind === 'model';
  context.fillStyle = colours.colour(bar.isFailed ? 'error-fill' : `${bar.kind}-fill`);
  const inset = isModel ? 7 : 9;
  roundRect(context, [x, y + inset, width, rowHeight - 2 * inset], isModel ? 3 : 1.5);
  context.fill();
  if (!isModel || width < 18 || bar.name === '') return;
  context.save();
  context.beginPath();
  context.rect(x, y, width - 4, rowHeight);
  context.clip();
  context.fillStyle = '#fff';
  context.font = `600 10px ${colours.sans}`;
  context.textBaseline = 'middle';
  context.fillText(firstLine(bar.name, 60), x + 6, y + rowHeight / 2 + 0.5);
  context.restore();
}

/** Marks of decisions, writes of state and failures; those within three pixels are one. */
function drawMarksOf(
  context: CanvasRenderingContext2D,
  width: number,
  scene: TimelineScene,
  columns: Columns,
): void {
  const colours = palette();
  const lastAt = { decision: -9, state: -9, error: -9 };
  const first = columns.seqAtTime(instantAtPlace(scene, -10, width));
  const last = columns.seqAtTime(instantAtPlace(scene, width + 10, width));
  for (let seq = Math.max(1, first); seq <= last; seq++) {
    const kind = columns.kindAt(seq);
    if (kind !== 'decision' && kind !== 'state' && kind !== 'error') continue;
    const x = placeOfInstant(scene, columns.at[seq - 1] ?? 0, width);
    if (x - lastAt[kind] < 3) continue;
    lastAt[kind] = x;
    if (kind === 'decision') {
      diamond(context, x, rulerHeight + rowHeight / 2, 5);
      context.fillStyle = colours.colour('decision-soft');
      context.fill();
      context.strokeStyle = colours.colour('decision');
      context.lineWidth = 1.5;
      context.stroke();
    } else if (kind === 'state') {
      context.fillStyle = colours.colour('state-fill');
      for (const line of [-4, 0, 4]) {
        roundRect(context, [x - 4, rulerHeight + rowHeight * 1.5 + line - 1, 8, 2.5], 1);
        context.fill();
      }
    } else {
      const row = scene.rows.rowOf[columns.invocation[seq - 1] ?? -1] ?? -1;
      if (row < 0) continue;
      const y = rulerHeight + row * rowHeight + 7;
      context.fillStyle = colours.colour('surface');
      context.beginPath();
      context.arc(x, y, 6, 0, 7);
      context.fill();
      context.strokeStyle = colours.colour('error');
      context.lineWidth = 1.8;
      cross(context, x, y, 3);
      context.stroke();
    }
  }
}

/** Draws the whole ledger small: bars without words. */
export function drawMinimap(
  context: CanvasRenderingContext2D,
  { width, height }: CanvasSize,
  scene: TimelineScene,
): void {
  const colours = palette();
  const whole = { from: scene.time.place(scene.start), to: scene.time.place(scene.end) };
  const span = Math.max(1, whole.to - whole.from);
  const place = (instant: number): number =>
    ((scene.time.place(instant) - whole.from) / span) * width;
  for (const { from, to } of scene.time.gaps) {
    context.fillStyle = colours.colour('line');
    context.fillRect(place(from), 0, place(to) - place(from), height);
  }
  const rows = Math.max(1, scene.rows.rows.length - 2);
  const each = Math.min(4.4, (height - 8) / rows);
  const drawn = new Map<string, number>();
  for (const bar of scene.bars) {
    if (bar.kind === 'invocation') continue;
    const row = (scene.rows.rowOf[bar.invocation] ?? 2) - 2;
    const x = place(bar.startedAt);
    const until = Math.max(x + 1.5, place(Math.min(bar.endedAt, scene.end)));
    const key = `${row} ${bar.kind}`;
    if ((drawn.get(key) ?? -1) >= until) continue;
    drawn.set(key, until);
    context.fillStyle = colours.colour(bar.isFailed ? 'error-fill' : `${bar.kind}-fill`);
    context.fillRect(x, 4.5 + row * each, until - x, Math.max(1, each - 1.2));
  }
}
