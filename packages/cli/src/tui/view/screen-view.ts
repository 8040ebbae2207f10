import { type Instance, render } from 'ink';
import { createElement } from 'react';
import type { Host } from '../../host/host.ts';
import type { TerminalApp } from '../app/terminal-app.ts';
import type { Screen } from '../screens/live-view.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { FullRoot } from './full-root.ts';
import { Root } from './root.ts';

const frameMs = 33;
/** Milliseconds between looks at the clock, while something is under way. */
const tickMs = { moving: 100, still: 1_000 } as const;

export interface ScreenViewParts {
  readonly host: Host;
  readonly app: TerminalApp;
  readonly screen: () => Screen;
  readonly hasColours: boolean;
  readonly moves: boolean;
  /** Called with an error that was thrown while the screen was drawn. */
  readonly onFault: (error: unknown) => void;
}

/** The app on the terminal: changes are painted at most once in each frame. */
export class ScreenView {
  readonly #parts: ScreenViewParts;
  readonly #listeners = new Set<() => void>();
  #instance: Instance | undefined;
  /** True while a view has the whole screen. */
  #isFull = false;
  /** Number of parts that the scrollback has. */
  #printed = 0;
  #swap: Promise<void> | undefined;
  #version = 0;
  #frame: NodeJS.Timeout | undefined;
  /** Monotonic milliseconds of the last frame. */
  #paintedAt = Number.NEGATIVE_INFINITY;
  #ticks: NodeJS.Timeout | undefined;
  #live: readonly Line[] = [];
  #columns = 0;
  #forget: () => void = () => undefined;

  constructor(parts: ScreenViewParts) {
    this.#parts = parts;
  }

  show(): void {
    const { host, app, screen } = this.#parts;
    const stdout = host.stdout as NodeJS.WriteStream;
    this.#columns = screen().columns;
    const onResize = (): void => this.#resized();
    stdout.prependListener('resize', onResize);
    const unsubscribe = app.subscribe(() => this.#changed());
    this.#forget = () => {
      unsubscribe();
      stdout.off('resize', onResize);
    };
    this.#open();
    const every = this.#parts.moves ? tickMs.moving : tickMs.still;
    this.#ticks = setInterval(() => {
      if (app.isMoving) this.#paint();
    }, every);
  }

  /** Begins to paint: the app below what was printed, or the view that has the whole screen. */
  #open(): void {
    const { host, app, screen, hasColours } = this.#parts;
    this.#isFull = app.full !== undefined;
    const props = {
      ...{ app, screen, hasColours },
      subscribe: (listener: () => void) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      version: () => this.#version,
    };
    const root = this.#isFull
      ? createElement(FullRoot, props)
      : createElement(Root, {
          ...props,
          firstPrinted: this.#printed,
          onPainted: (lines: readonly Line[]) => {
            this.#live = lines;
            this.#printed = app.printed.length;
          },
        });
    this.#instance = render(root, {
      ...{ stdout: host.stdout as NodeJS.WriteStream, stdin: host.stdin, interactive: true },
      ...{ alternateScreen: this.#isFull, incrementalRendering: true },
      ...{ patchConsole: false, exitOnCtrlC: false, maxFps: 30 },
    });
    this.#instance.waitUntilExit().catch(this.#parts.onFault);
  }

  /** Changes between the app and the view that has the whole screen. */
  async #change(): Promise<void> {
    await this.#close();
    this.#open();
    this.#swap = undefined;
    this.#changed();
  }

  async #close(): Promise<void> {
    const instance = this.#instance;
    this.#instance = undefined;
    await instance?.waitUntilRenderFlush();
    if (!this.#isFull) instance?.clear();
    this.#live = [];
    instance?.unmount();
    // A fault has been told already.
    await instance?.waitUntilExit().catch(() => undefined);
  }

  #changed(): void {
    // After a pause a change is painted at once: a key is seen without the wait of a frame.
    const wait = Math.max(0, this.#paintedAt + frameMs - this.#parts.host.clock.monotonic());
    this.#frame ??= setTimeout(() => this.#paint(), wait);
  }

  #paint(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    this.#paintedAt = this.#parts.host.clock.monotonic();
    if (this.#swap !== undefined) return;
    if (this.#isFull !== (this.#parts.app.full !== undefined)) {
      this.#swap = this.#change();
      return;
    }
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Clears the rows that a narrower terminal made of the live lines. It comes before the listener
   * of Ink, which knows only of the lines that it wrote.
   */
  #resized(): void {
    const { columns } = this.#parts.screen();
    const extra = this.#live.reduce((rows, line) => {
      const width = displayWidth(textOfLine(line));
      return rows + Math.max(0, Math.ceil(width / columns) - 1);
    }, 0);
    if (columns < this.#columns && extra > 0)
      this.#parts.host.stdout.write(`\u001B[${extra}A\u001B[J`);
    this.#columns = columns;
    this.#paint();
  }

  /** Paints what has changed, and gives the terminal back. */
  async hide(): Promise<void> {
    clearInterval(this.#ticks);
    this.#paint();
    await this.#swap;
    this.#paint();
    this.#forget();
    clearTimeout(this.#frame);
    this.#frame = undefined;
    await this.#close();
  }
}
