import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Ran {
  readonly line: string;
  readonly code: number;
  readonly output: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Ran>;
}

/** Lines of an output that are shown from its begin and from its end. */
const shownLines = 12;

/** Prints a line that was typed, and what came back. */
export function tell(line: string, output: string): void {
  const lines = output.trimEnd().split('\n');
  const hidden = lines.length - 2 * shownLines;
  const shown =
    hidden <= 1
      ? lines
      : [...lines.slice(0, shownLines), `… ${hidden} lines …`, ...lines.slice(-shownLines)];
  console.log([`$ ${line}`, ...shown].map((text) => `     ${text}`).join('\n'));
}

/** A shell of a person: lines are carried out as they are written, `cd` included. */
export class Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly #place: string;
  #cwd: string;

  constructor(cwd: string, env: Readonly<Record<string, string | undefined>>, scratch: string) {
    this.#cwd = cwd;
    this.env = env;
    this.#place = join(scratch, 'cwd');
  }

  get cwd(): string {
    return this.#cwd;
  }

  async run(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    writeFileSync(this.#place, this.#cwd);
    const ran = await this.start(`${line}\ncode=$?; pwd > '${this.#place}'; exit $code`, env)
      .finished;
    this.#cwd = readFileSync(this.#place, 'utf8').trim();
    tell(line, ran.output);
    return { ...ran, line };
  }

  /** Starts a line in a process group of its own. */
  start(line: string, env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn('bash', ['-c', line], {
      cwd: this.#cwd,
      env: { ...this.env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const finished = new Promise<Ran>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ line, code: code ?? -1, output }));
    });
    return { child, finished };
  }
}

const fence = /^```sh\n(.*?)^```$/gms;

/** Lines of the shell blocks of a page, from a heading on. */
export function commandsIn(page: string, heading = ''): readonly (readonly string[])[] {
  const from = heading === '' ? 0 : page.indexOf(heading);
  if (from < 0) throw new Error(`The page has no heading "${heading}".`);
  return [...page.slice(from).matchAll(fence)].map(([, block = '']) =>
    block.split('\n').filter((line) => line.trim() !== ''),
  );
}

/** Lines that a program printed to be typed: they begin with one of its names. */
export function printedCommands({ output }: Pick<Ran, 'output'>): readonly string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?:npx adjutant|adjutant|npm start -s --) /.test(line));
}
