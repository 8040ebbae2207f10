import { duration, fullTime } from '../../../components/format.ts';
import { firstLine } from '../../../components/visible-text.ts';
import type { CanvasSize } from '../../../drawing/canvas.tsx';
import { palette } from '../../../drawing/palette.ts';
import { roundRect } from '../../../drawing/shapes.ts';
import {
  drawEvents,
  drawGround,
  rowHeight,
  rulerHeight,
  type TimelineScene,
} from './draw-timeline.ts';

/** Words above and below the timeline of a picture. */
export interface PictureWords {
  readonly title: string;
  readonly session: string;
}

export const legend = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['wait', 'wait'],
  ['error', 'failed'],
] as const;

const margin = 24;
const headHeight = 68;
const footHeight = 44;
const labelWidth = 210;
const plotWidth = 1_200;
/** Rows of a picture at most: browsers draw no canvas of any height. */
const mostRows = 400;

/** Returns how large the picture of a timeline is, in CSS pixels. */
export function pictureSize({ rows }: TimelineScene): CanvasSize {
  const shown = Math.min(mostRows, rows.rows.length);
  return {
    width: 2 * margin + labelWidth + plotWidth,
    height: headHeight + rulerHeight + shown * rowHeight + footHeight,
  };
}

/** Draws the part of the timeline that is seen by itself: with its title, its times and a legend. */
export function drawPicture(
  context: CanvasRenderingContext2D,
  scene: TimelineScene,
  words: PictureWords,
): void {
  const size = pictureSize(scene);
  const colours = palette();
  context.direction = 'ltr';
  context.fillStyle = colours.colour('surface');
  context.fillRect(0, 0, size.width, size.height);
  drawHead(context, scene, words);
  drawLabels(context, scene);
  const height = size.height - headHeight - footHeight;
  context.save();
  context.translate(margin + labelWidth, headHeight);
  context.beginPath();
  context.rect(0, 0, plotWidth, height);
  context.clip();
  const shown = withRows(scene);
  drawGround(context, { width: plotWidth, height }, shown);
  drawEvents(context, { width: plotWidth, height }, shown);
  context.restore();
  drawFoot(context, scene, size);
}

/** The scene with as many rows as a picture has. */
function withRows(scene: TimelineScene): TimelineScene {
  const { rows, rowOf } = scene.rows;
  if (rows.length <= mostRows) return scene;
  return { ...scene, rows: { rows: rows.slice(0, mostRows), rowOf } };
}

function drawHead(
  context: CanvasRenderingContext2D,
  { time, view }: TimelineScene,
  { title, session }: PictureWords,
): void {
  const colours = palette();
  context.textBaseline = 'alphabetic';
  context.fillStyle = colours.colour('text');
  context.font = `700 16px ${colours.sans}`;
  const widest = labelWidth + plotWidth;
  context.fillText(cutTo(context, firstLine(title, 200), widest), margin, 32);
  context.fillStyle = colours.colour('text-3');
  context.font = `12px ${colours.sans}`;
  const [from, to] = [time.instant(view.from), time.instant(view.to)];
  const times = `${fullTime(from)} to ${fullTime(to)}, ${duration(to - from)}`;
  context.fillText(cutTo(context, `${firstLine(session, 120)} · ${times}`, widest), margin, 52);
}

function drawLabels(context: CanvasRenderingContext2D, { rows }: TimelineScene): void {
  const colours = palette();
  context.textBaseline = 'middle';
  context.font = `12px ${colours.sans}`;
  for (const [index, { label, depth }] of rows.rows.slice(0, mostRows).entries()) {
    const indent = Math.min(3, depth) * 12;
    const y = headHeight + rulerHeight + index * rowHeight + rowHeight / 2;
    context.fillStyle = colours.colour(depth === 0 ? 'text' : 'text-2');
    const text = cutTo(context, firstLine(label, 80), labelWidth - indent - 12);
    context.fillText(text, margin + indent, y);
  }
}

function drawFoot(
  context: CanvasRenderingContext2D,
  { rows, time }: TimelineScene,
  { width, height }: CanvasSize,
): void {
  const colours = palette();
  context.textBaseline = 'middle';
  context.font = `12px ${colours.sans}`;
  const y = height - footHeight / 2;
  let x = margin;
  for (const [kind, word] of legend) {
    context.fillStyle = colours.colour(`${kind}-fill`);
    roundRect(context, [x, y - 5, 16, 10], 3);
    context.fill();
    context.fillStyle = colours.colour('text-2');
    context.fillText(word, x + 22, y);
    x += 22 + context.measureText(word).width + 20;
  }
  const hidden = rows.rows.length - mostRows;
  const notes = [
    ...(time.gaps.length > 0 ? ['waits of more than five seconds are folded'] : []),
    ...(hidden > 0 ? [`${hidden} further rows are not shown`] : []),
  ].join('; ');
  context.fillStyle = colours.colour('text-3');
  context.fillText(notes, width - margin - context.measureText(notes).width, y);
}

/** Cuts text to a width: what is left out is told by a sign. */
function cutTo(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const symbols = [...text];
  let [fits, most] = [0, symbols.length];
  while (fits < most) {
    const middle = Math.ceil((fits + most) / 2);
    const part = `${symbols.slice(0, middle).join('')}…`;
    if (context.measureText(part).width <= width) fits = middle;
    else most = middle - 1;
  }
  return `${symbols.slice(0, fits).join('')}…`;
}
