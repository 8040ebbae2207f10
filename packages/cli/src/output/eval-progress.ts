import type { EvalProgress, EvalTrialEnded } from 'adjutant/eval';
import type { Clock } from 'adjutant/ports';
import type { OutputStream } from '../host/host.ts';
import { formatCount, formatDuration } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

const clearLine = '\r\x1b[2K';
const redrawMs = 80;
const barLength = 24;
const defaultColumns = 80;
/** Share of the trials after which another line is written, where there is no terminal. */
const lineShare = 0.1;

/** Progress of an eval: a bar on a terminal, else a line now and then. */
export interface EvalProgressOutput {
  show(progress: EvalProgress): void;
  /** Removes the bar. */
  close(): void;
}

export interface EvalProgressOptions {
  readonly stream: OutputStream;
  readonly clock: Clock;
  readonly style: Style;
  /** True when the stream is a terminal on which a line can be redrawn. */
  readonly isLive: boolean;
}

export function evalProgressOutput(options: EvalProgressOptions): EvalProgressOutput {
  return options.isLive ? new ProgressBar(options) : new ProgressLines(options);
}

export const silentProgress: EvalProgressOutput = { show: () => undefined, close: () => undefined };

class ProgressBar implements EvalProgressOutput {
  readonly #stream: OutputStream;
  readonly #clock: Clock;
  readonly #style: Style;
  /**
   * Monotonic time at which the first trial began. The time before it, for loading the eval, says
   * nothing about trials.
   */
  #startedAt: number | undefined;
  /** Trials that this process ran. Trials recorded before say nothing about the remaining time. */
  #ran = 0;
  #last: EvalTrialEnded | undefined;
  #total = 0;
  #cancel: (() => void) | undefined;

  constructor({ stream, clock, style }: EvalProgressOptions) {
    this.#stream = stream;
    this.#clock = clock;
    this.#style = style;
  }

  show(progress: EvalProgress): void {
    if (progress.type === 'start') this.#total = progress.total;
    if (progress.type === 'trial_start') this.#startedAt ??= this.#clock.monotonic();
    if (progress.type === 'trial_end') {
      this.#last = progress;
      if (!progress.recorded) this.#ran++;
    }
    // Recorded trials may arrive a thousand at once, so the line is drawn at most a dozen times a
    // second.
    this.#cancel ??= this.#clock.setTimer(redrawMs, () => {
      this.#cancel = undefined;
      this.#draw();
    });
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#stream.write(clearLine);
  }

  #draw(): void {
    const { done, passed } = this.#last ?? { done: 0, passed: 0 };
    const share = this.#total === 0 ? 1 : done / this.#total;
    const full = Math.round(share * barLength);
    const style = this.#style;
    const bar = `${style.cyan('█'.repeat(full))}${style.dim('░'.repeat(barLength - full))}`;
    const failed = done - passed;
    const texts = [
      `${done}/${this.#total} trials`,
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...this.#remaining(done),
    ];
    const room = (this.#stream.columns || defaultColumns) - barLength - 2;
    this.#stream.write(`${clearLine}${bar} ${fitting(texts, room)}`);
  }

  #remaining(done: number): string[] {
    if (this.#ran === 0 || this.#startedAt === undefined || done >= this.#total) return [];
    const perTrial = (this.#clock.monotonic() - this.#startedAt) / this.#ran;
    return [`about ${formatDuration(perTrial * (this.#total - done))} left`];
  }
}

/** Returns as many of the texts as there is room for. A line that wraps could not be cleared. */
function fitting(texts: readonly string[], room: number): string {
  let line = '';
  for (const text of texts) {
    const longer = line === '' ? text : `${line} · ${text}`;
    if (longer.length > room) break;
    line = longer;
  }
  return line;
}

class ProgressLines implements EvalProgressOutput {
  readonly #stream: OutputStream;
  readonly #style: Style;
  #shown = 0;

  constructor({ stream, style }: EvalProgressOptions) {
    this.#stream = stream;
    this.#style = style;
  }

  show(progress: EvalProgress): void {
    if (progress.type === 'start') {
      const { name, runId, total, cases, trials, variants } = progress;
      const parts = [
        formatCount(cases, 'case'),
        formatCount(trials, 'trial'),
        formatCount(variants.length, 'variant'),
      ].join(' × ');
      this.#line(`${name}, run ${runId}: ${parts} = ${formatCount(total, 'trial')}`);
    }
    if (progress.type === 'trial_end') this.#ended(progress);
  }

  close(): void {}

  #ended({ done, passed, total }: EvalTrialEnded): void {
    const step = Math.floor(done / total / lineShare + 1e-9);
    if (step <= this.#shown) return;
    this.#shown = step;
    this.#line(`${done} of ${formatCount(total, 'trial')}, ${passed} passed`);
  }

  #line(text: string): void {
    this.#stream.write(`${this.#style.dim(`adjutant: ${plainLine(text)}`)}\n`);
  }
}
