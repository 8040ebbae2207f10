import { onThemeChange } from '../shell/theme.ts';
import type { CanvasSize } from './canvas.tsx';

/** Number of themes that were shown: a picture of another one is old. */
let themes = 0;
onThemeChange(() => themes++);

/** Opacity of what has not happened yet at the reader's place. */
const laterAlpha = 0.28;

/**
 * A picture that is kept: painted anew when its key, its size or the theme change. Moving through
 * it only copies pixels.
 */
export class Layer {
  readonly #canvas = document.createElement('canvas');
  #key = '';

  /** Paints the picture, unless it is there. */
  paint(
    { width, height }: CanvasSize,
    key: string,
    paint: (context: CanvasRenderingContext2D) => void,
  ): void {
    const ratio = Math.max(1, devicePixelRatio);
    const whole = `${key} ${width} ${height} ${ratio} ${themes}`;
    if (whole === this.#key) return;
    const context = this.#canvas.getContext('2d');
    if (context === null) return;
    this.#key = whole;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(context);
  }

  /** Copies the picture: what lies right of a place is shown as later. */
  copyTo(context: CanvasRenderingContext2D, { width, height }: CanvasSize, place: number): void {
    const { width: pixels, height: rows } = this.#canvas;
    const x = Math.max(0, Math.min(width, place));
    const middle = Math.round((x / width) * pixels);
    const here = (middle / pixels) * width;
    if (middle > 0) context.drawImage(this.#canvas, 0, 0, middle, rows, 0, 0, here, height);
    if (middle >= pixels) return;
    context.globalAlpha = laterAlpha;
    context.drawImage(
      this.#canvas,
      middle,
      0,
      pixels - middle,
      rows,
      here,
      0,
      width - here,
      height,
    );
    context.globalAlpha = 1;
  }
}
