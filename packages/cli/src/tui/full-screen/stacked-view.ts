import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
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
  readonly #views: FullView[];

  constructor(lowest: FullView) {
    this.#views = [lowest];
  }

  /** Opens a view on top of the others. */
  push(view: FullView): void {
    this.#views.push(view);
  }

  take(input: Input): boolean {
    if (this.#views.at(-1)?.take(input) === true) this.#views.pop();
    return this.#views.length === 0;
  }

  lines(screen: Screen): readonly Line[] {
    return this.#views.at(-1)?.lines(screen) ?? [];
  }
}
