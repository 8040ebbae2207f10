import { bothThemes, svgOf, type Theme, titleOfPictures } from './picture.ts';
import type { PseudoTerminal, TerminalSize } from './pseudo-terminal.ts';

interface Frame {
  /** Seconds since the begin. */
  readonly at: number;
  readonly pictures: Readonly<Record<Theme, string>>;
}

/** Seconds for which the last screen stands before the animation begins anew. */
const lastFor = 4;

/**
 * A recorded session, as an asciicast and as an animated picture. Its times are those that a script
 * gives, so that they do not depend on the machine.
 */
export class Recording {
  readonly #terminal: PseudoTerminal;
  readonly #size: TerminalSize;
  readonly #events: string[] = [];
  readonly #frames: Frame[] = [];
  #seconds = 0;
  #taken = 0;

  constructor(terminal: PseudoTerminal, size: TerminalSize) {
    this.#terminal = terminal;
    this.#size = size;
  }

  /** Takes what is on the screen now, and lets it stand for a while. */
  take(seconds: number): void {
    const { raw, screen } = this.#terminal;
    const at = Number(this.#seconds.toFixed(3));
    this.#events.push(JSON.stringify([at, 'o', raw.slice(this.#taken)]));
    this.#taken = raw.length;
    const [dark, light] = bothThemes.map((theme) => svgOf(screen, theme)) as [string, string];
    this.#frames.push({ at, pictures: { dark, light } });
    this.#seconds += seconds;
  }

  /** The asciicast, version 2. */
  get cast(): string {
    const { columns: width, rows: height } = this.#size;
    const head = { version: 2, width, height, env: { TERM: 'xterm-256color' } };
    return `${[JSON.stringify(head), ...this.#events].join('\n')}\n`;
  }

  /** The frames over one another, each of them seen for its time. */
  animation(theme: Theme): string {
    const whole = this.#seconds + lastFor;
    const [, width, height] =
      /width="(\d+)" height="(\d+)"/.exec(svgOf(this.#terminal.screen, theme)) ?? [];
    const percent = (seconds: number): string => ((100 * seconds) / whole).toFixed(2);
    const shown = this.#frames.map(({ at, pictures }, index) => {
      const until = this.#frames[index + 1]?.at ?? whole;
      const [from, to] = [percent(at), percent(until)];
      const keys =
        `@keyframes f${index}{0%{visibility:${at === 0 ? 'visible' : 'hidden'}}` +
        `${from}%{visibility:visible}${to}%,100%{visibility:${until === whole ? 'visible' : 'hidden'}}}`;
      const style = `<style>${keys}#f${index}{animation:f${index} ${whole}s step-end infinite}</style>`;
      return `${style}<g id="f${index}">${pictures[theme]}</g>`;
    });
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `height="${height}">${titleOfPictures}${shown.join('')}</svg>\n`
    );
  }
}
