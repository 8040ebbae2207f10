import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Event, type Runtime, runtime, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { keptOpen } from 'adjutant/testing';
import { onTestFinished } from 'vitest';
import { PseudoTerminal, type TerminalSize } from './pseudo-terminal.ts';
import { startWorld, type World } from './world.ts';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
/** Words for a shell that start the app. */
export const appWords = `"${process.execPath}" --conditions=adjutant-source "${main}"`;
const fixture = fileURLToPath(new URL('../../fixtures/terminal/', import.meta.url));
/** Folder of the clone, in which `npm start` works. */
export const clone = fileURLToPath(new URL('../../../../../', import.meta.url));
/** Size of a terminal that a test does not give. */
const usualSize: TerminalSize = { columns: 80, rows: 24 };

export interface AppStart {
  /** @default 80 × 24 */
  readonly size?: TerminalSize;
  /** Arguments of `adjutant`. @default none */
  readonly args?: readonly string[];
  /** Line for a shell that starts the app, in place of the arguments. */
  readonly line?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default the folder with the configuration of the agent `coder` */
  readonly cwd?: string;
}

/** The terminal app under test: programs in one place, with its model, tools and store. */
export interface AppBench {
  readonly folder: string;
  readonly world: World;
  /** Starts the app in a new terminal. */
  start(options?: AppStart): PseudoTerminal;
  /** Uses an app of another process: it shares nothing but the store. */
  beside<Found>(use: (app: Runtime) => Promise<Found>): Promise<Found>;
  /** Ids of the sessions, newest first. */
  sessions(): Promise<readonly string[]>;
  /** The ledger of a session, by default of the newest one, read beside the program. */
  ledger(session?: string): Promise<readonly Event[]>;
  /** Claims the newest session as another process would. @throws SessionBusyError */
  claim(): Promise<void>;
}

/** Makes a place for the terminal app of one test. */
export async function appBench(): Promise<AppBench> {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-terminal-'));
  const store = join(folder, 'shop.db');
  mkdirSync(join(folder, 'data'));
  // As an installed program is called: commands that it prints name it so.
  const program = join(folder, 'adjutant');
  symlinkSync(main, program);
  const world = await startWorld();
  const terminals: PseudoTerminal[] = [];
  onTestFinished(async () => {
    for (const terminal of terminals) terminal.close();
    await Promise.all(terminals.map(({ exited }) => exited));
    world.close();
    await shared?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  // Tests look again and again: a thread for each look would be most of their time.
  let shared: Store | undefined;
  const beside = async <Found>(use: (app: Runtime) => Promise<Found>) => {
    shared ??= sqlite(store);
    const app = runtime({ app: 'shop', store: keptOpen(shared), recover: 'manual' });
    try {
      return await use(app);
    } finally {
      await app.close();
    }
  };
  const sessions = () =>
    beside(async (app) => (await app.sessions.list()).sessions.map(({ id }) => id));
  return {
    folder,
    world,
    start({ size = usualSize, args = [], line, env = {}, cwd = fixture } = {}) {
      const words = ['--conditions=adjutant-source', program, ...args];
      const terminal = new PseudoTerminal({
        ...(line === undefined
          ? { program: process.execPath, args: words }
          : { program: '/bin/sh', args: ['-c', line] }),
        cwd,
        env: environmentOf(folder, { WORLD: world.address, SHOP_STORE: store, ...env }),
        ...size,
      });
      terminals.push(terminal);
      return terminal;
    },
    ...{ beside, sessions },
    claim: () =>
      beside(async (app) => {
        const id = (await app.sessions.list()).sessions[0]?.id ?? '';
        await (await app.sessions.get(id)).claim();
      }),
    async ledger(id) {
      const name = id ?? (await sessions())[0] ?? '';
      return beside(async (app) => {
        const { events, resolve } = await app.sessions.get(name);
        return events.map((event) => resolve(event) as Event);
      });
    },
  };
}

function environmentOf(
  folder: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  return {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    HOME: folder,
    ADJUTANT_HOME: join(folder, 'data'),
    ADJUTANT_MOTION: '0',
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    ...env,
  };
}
