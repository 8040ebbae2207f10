import type { Host } from './host.ts';

/** Parts of the host that the modes need. */
export type ModesHost = Pick<Host, 'stdin' | 'stdout' | 'env' | 'signals'>;

const csi = '\u001B[';
const on = { paste: `${csi}?2004h`, keepTitle: `${csi}22;0t` } as const;
const off = {
  paste: `${csi}?2004l`,
  restoreTitle: `${csi}23;0t`,
  showCursor: `${csi}?25h`,
} as const;

/**
 * The modes of the terminal that the app needs. They are turned off again whatever happens, also
 * when an error or a second signal ends the process.
 */
export class TerminalModes {
  readonly #host: ModesHost;
  #isOn = false;
  #title = '';
  #forget: () => void = () => undefined;

  constructor(host: ModesHost) {
    this.#host = host;
  }

  /** Takes the keys from here on: none is echoed, and pastes come with marks. */
  enter(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#forget = this.#host.signals.atEnd(() => this.leave());
    this.#host.stdin.setRawMode(true);
    this.#host.stdin.setEncoding('utf8');
    this.#host.stdout.write(`${on.keepTitle}${on.paste}`);
  }

  leave(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#forget();
    this.#host.stdin.setRawMode(false);
    this.#host.stdout.write(`${off.paste}${off.restoreTitle}${off.showCursor}`);
  }

  /** Sets the title of the window. It is text of this program only. */
  title(text: string): void {
    if (!this.#isOn || text === this.#title) return;
    this.#title = text;
    this.#host.stdout.write(`\u001B]0;${text}\u0007`);
  }

  bell(): void {
    if (this.#host.env['ADJUTANT_BELL'] !== '0') this.#host.stdout.write('\u0007');
  }
}
