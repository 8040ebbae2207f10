import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** One execution of a tool, as it is known outside of the process that did it. */
export interface Effect {
  readonly session: string;
  readonly callId: string;
  readonly key: string;
  readonly attempt: number;
  readonly pid: number;
}

/** Adds a line to a file that outlives the process. */
export class EffectFile {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(effect: Omit<Effect, 'pid'>): void {
    writeSync(this.#file, `${JSON.stringify({ ...effect, pid: process.pid })}\n`);
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export function readEffects(path: string): readonly Effect[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Effect]));
}
