import type { Clock } from 'adjutant/ports';
import type { OutputStream } from '../host/host.ts';
import type { Style } from './style.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;
const clearLine = '\r\x1b[2K';
const defaultColumns = 80;

/** Line at the bottom of a terminal that shows the present activity, until it is hidden. */
export class Spinner {
  readonly #stream: OutputStream;
  readonly #clock: Clock;
  readonly #style: Style;
  #label: string | undefined;
  #frame = 0;
  #cancel: (() => void) | undefined;

  constructor(stream: OutputStream, clock: Clock, style: Style) {
    this.#stream = stream;
    this.#clock = clock;
    this.#style = style;
  }

  /** Shows a label, which must be plain text on one line. */
  show(label: string): void {
    if (label === this.#label) return;
    this.#label = label;
    this.#draw();
  }

  hide(): void {
    if (this.#label === undefined) return;
    this.#label = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#stream.write(clearLine);
  }

  #draw(): void {
    if (this.#label === undefined) return;
    this.#cancel?.();
    const frame = frames[this.#frame++ % frames.length] as string;
    const room = (this.#stream.columns || defaultColumns) - 3;
    this.#stream.write(
      `${clearLine}${this.#style.cyan(frame)} ${this.#style.dim(fitting(this.#label, room))}`,
    );
    this.#cancel = this.#clock.setTimer(frameMs, () => this.#draw());
  }
}

/**
 * Returns as much of a text as fits into the columns, because a line that wraps could not be
 * cleared. A character beyond ASCII counts as two columns.
 */
function fitting(text: string, columns: number): string {
  let width = 0;
  let shown = '';
  for (const symbol of text) {
    width += symbol <= '~' ? 1 : 2;
    if (width > columns) return shown;
    shown += symbol;
  }
  return shown;
}
