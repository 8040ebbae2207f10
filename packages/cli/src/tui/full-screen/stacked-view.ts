import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
import { spread } from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import type { Line } from '../text/spans.ts';

/** The acts of views outside of themselves. */
export interface ViewActs {
  /** Puts a text into the clipboard of the terminal. */
  copy(text: string): void;
  /** Prints a text into the scrollback. */
  print(title: string, text: string): void;
  /** Paints the view again, because something came that it had asked for. */
  changed(): void;
}

/** A view with others on top of it, of which the last one has the keys. */
export class StackedView implements FullView {
  #views: FullView[] = [];
  readonly #notice: () => string;

  /** @param notice returns what is to be said beside the keys, such as `1 waits: q` */
  constructor(notice: () => string = () => '') {
    this.#notice = notice;
  }

  /** Opens a view on top of the others. */
  push(view: FullView): void {
    this.#views.push(view);
  }

  /** Closes all views with the key that is taken now. */
  close(): void {
    this.#views = [];
  }

  take(input: Input): boolean {
    // Keys that came at once may be of different views.
    if (input.kind === 'text') for (const text of input.text) this.#give({ kind: 'text', text });
    else this.#give(input);
    return this.#views.length === 0;
  }

  #give(input: Input): void {
    const top = this.#views.at(-1);
    if (top?.take(input) === true && this.#views.at(-1) === top) this.#views.pop();
  }

  lines(screen: Screen): readonly Line[] {
    const lines = this.#views.at(-1)?.lines(screen) ?? [];
    const notice = this.#notice();
    const last = lines.at(-1);
    if (notice === '' || last === undefined) return lines;
    return [...lines.slice(0, -1), spread(last, { facts: [notice] }, screen)];
  }
}
