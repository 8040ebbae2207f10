import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, type Runtime, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { keys } from '../../packages/cli/test/terminal/kit/keys.ts';
import { PseudoTerminal } from '../../packages/cli/test/terminal/kit/pseudo-terminal.ts';

const shop = join(import.meta.dirname, 'shop');
const program = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const nodeArguments = ['--conditions=adjutant-source', program];
/** A weak model on a machine with other work takes its time. */
const patienceMs = 180_000;

/** Protocol in which the agent asks the model for calls: that of OpenAI, or words. */
export type Protocol = 'native' | 'text';

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** The terminal app of a shop, with one session in one store, and programs beside it. */
export class ShopBench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'adjutant-weak-model-'));
  readonly #store = join(this.#folder, 'shop.db');
  readonly #modelUrl: string;
  readonly #terminals: PseudoTerminal[] = [];

  constructor(modelUrl: string) {
    this.#modelUrl = modelUrl;
  }

  #environment(protocol: Protocol): Readonly<Record<string, string | undefined>> {
    const { PATH, NODE_COMPILE_CACHE: cache } = process.env;
    return {
      PATH,
      // A terminal makes the text "undefined" of a variable without a value, here a folder.
      ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }),
      HOME: this.#folder,
      ADJUTANT_HOME: join(this.#folder, 'data'),
      ADJUTANT_MOTION: '0',
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      WEAK_MODEL_URL: this.#modelUrl,
      WEAK_MODEL_STORE: this.#store,
      WEAK_MODEL_CALLS: protocol,
    };
  }

  /** Starts the app in a terminal, with the session of the terminals before it. */
  async open(protocol: Protocol): Promise<PseudoTerminal> {
    const session = this.#terminals.length === 0 ? [] : ['--session', 'last'];
    const terminal = new PseudoTerminal({
      program: process.execPath,
      args: [...nodeArguments, 'chat', ...session],
      cwd: shop,
      env: this.#environment(protocol),
      ...{ columns: 100, rows: 30, patienceMs },
    });
    this.#terminals.push(terminal);
    await terminal.shows(/new session|session …/);
    await rests(terminal);
    return terminal;
  }

  /** Carries a command of the command line out. */
  run(protocol: Protocol, ...args: readonly string[]): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArguments, ...args], {
      cwd: shop,
      env: this.#environment(protocol),
      encoding: 'utf8',
    });
    return { code: status, output: `${stdout}${stderr}` };
  }

  /** Uses an app of this process, which shares nothing with the terminal but the store. */
  async #beside<Found>(use: (app: Runtime) => Promise<Found>): Promise<Found> {
    const app = runtime({ app: 'shop', store: sqlite(this.#store), recover: 'manual' });
    try {
      return await use(app);
    } finally {
      await app.close();
    }
  }

  sessions(): Promise<readonly string[]> {
    return this.#beside(async (app) => (await app.sessions.list()).sessions.map(({ id }) => id));
  }

  async ledger(): Promise<readonly Event[]> {
    const [id] = await this.sessions();
    if (id === undefined) return [];
    return this.#beside(async (app) => [...(await app.sessions.get(id)).events]);
  }

  /** Waits until the run has ended, or waits for somebody, and the app says so. */
  async ended(terminal: PseudoTerminal): Promise<readonly Event[]> {
    for (;;) {
      await rests(terminal);
      const { length } = terminal.raw;
      const events = await this.ledger();
      const last = events.at(-1)?.type;
      if (last === 'invocation_end' || last === 'invocation_yield') return events;
      await terminal.until('the end of the run', () => terminal.raw.length > length);
    }
  }

  async leave(terminal: PseudoTerminal): Promise<number> {
    await rests(terminal);
    terminal.write(`${keys.ctrl('u')}${keys.ctrl('d')}`);
    return terminal.exited;
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals) terminal.close();
    await Promise.all(this.#terminals.map(({ exited }) => exited));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function rests(terminal: PseudoTerminal): Promise<void> {
  return terminal.until('the rest of the agent', ({ lines }) => {
    const status = lines.findLast((line) => line !== '') ?? '';
    return /(\/ commands|Enter goes on|\^P palette)$/.test(status);
  });
}
