import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Figure, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

const root = join(import.meta.dirname, '../..');
const fixture = join(root, 'packages/cli/test/fixtures/terminal');
const app = ['--conditions=adjutant-source', join(root, 'packages/cli/src/main.ts')];
const floor = 'bare loop';

/** A program in a pseudo-terminal, of the kit of the terminal's tests. */
interface PseudoTerminal {
  readonly raw: string;
  readonly exited: Promise<number>;
  write(keys: string): void;
  /** Resolves when the program has written a text behind a place of its output. */
  wrote(text: string, after: number): Promise<void>;
  close(): void;
}

/** The model of the program, of the same kit. */
interface World {
  readonly address: string;
  modelCall(): Promise<{ says(text: string): void; ends(): void }>;
  close(): void;
}

interface Kit {
  readonly PseudoTerminal: new (start: object) => PseudoTerminal;
  readonly startWorld: () => Promise<World>;
}

/** Loads the kit from its files: it belongs to tests, and no package has it. */
async function loadKit(): Promise<Kit> {
  const folder = join(root, 'packages/cli/test/terminal/kit');
  const load = (name: string): Promise<Kit> => import(pathToFileURL(join(folder, name)).href);
  const [{ PseudoTerminal }, { startWorld }] = await Promise.all([
    load('pseudo-terminal.ts'),
    load('world.ts'),
  ]);
  return { PseudoTerminal, startWorld };
}

/** A program that writes a line, and with each key the line of those that came. */
const echo = `
  process.stdin.setRawMode(true);
  process.stdout.write('adjutant 0.');
  let line = '';
  process.stdin.setEncoding('utf8').on('data', (keys) => {
    for (const key of keys) line = key === '\\u0015' ? '' : line + key;
    process.stdout.write('\\r' + line);
  });
`;
const ctrlU = '\u0015';
/** Letters that nothing else writes: the app writes only what has changed in a line. */
const letters = ['q', 'z', 'x', 'v', 'j'];
/** Keys of one measurement. */
const keyCount = 60;
/** Keys after which the composer is cleared; the letter behind differs from the first one. */
const lineLength = 28;
const historyLines = 10_000;
/** Lines that come in one piece. */
const pieceLines = 100;
const streamEveryMs = 15;

/** The terminal app in a pseudo-terminal: how soon something is on the screen, and how soon keys. */
export const terminalApp: Benchmark = {
  name: 'terminal-app',
  notes: [
    'First words: from the start of the process. A key to its echo: the 95th percentile of ' +
      `${keyCount} keys. Their floor is a program of Node that writes a line, and then its keys.`,
  ],
  async run(settings) {
    const kit = await loadKit();
    const world = await kit.startWorld();
    try {
      const start = await starter(kit, world, settings);
      return [await firstWords(start, settings), ...(await echoes(start, world, settings))];
    } finally {
      world.close();
    }
  },
};

type Start = (args: readonly string[]) => PseudoTerminal;

async function starter(kit: Kit, world: World, { folder }: Settings): Promise<Start> {
  const home = await mkdtemp(join(folder, 'terminal-'));
  return (args) =>
    new kit.PseudoTerminal({
      program: process.execPath,
      args,
      cwd: fixture,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: join(folder, 'compile'),
        ...{ HOME: home, ADJUTANT_HOME: home, SHOP_STORE: join(home, 'shop.db') },
        ...{ WORLD: world.address, LANG: 'C.UTF-8', TERM: 'xterm-256color' },
      },
      ...{ columns: 80, rows: 24 },
    });
}

async function firstWords(start: Start, settings: Settings): Promise<Row> {
  const timed = async (args: readonly string[]): Promise<number> => {
    const began = performance.now();
    const terminal = start(args);
    await terminal.wrote('adjutant 0.', 0);
    const ms = performance.now() - began;
    terminal.close();
    await terminal.exited;
    return ms;
  };
  const subjects: Subject[] = [
    { name: ours, measure: () => timed(app) },
    { name: floor, measure: () => timed(['--eval', echo]) },
  ];
  return {
    work: 'first words of the terminal app',
    unit: 'ms',
    figures: await interleave(subjects, settings.quick ? 5 : 15),
    ceiling: { limit: 300 },
  };
}

/** Situations in which keys are typed, with what goes on meanwhile. */
const situations: Readonly<Record<string, (talk: Talk) => Promise<() => void>>> = {
  'an empty session': async () => () => undefined,
  '10,000 lines of history': async (talk) => {
    const call = await talk.ask();
    const piece = 'A line.\n\n'.repeat(pieceLines);
    for (let line = 0; line < historyLines; line += pieceLines) call.says(piece);
    call.says('That is all.');
    await talk.terminal.wrote('That is all.', 0);
    call.ends();
    return () => undefined;
  },
  'an answer that streams': async (talk) => {
    const call = await talk.ask();
    let parts = 0;
    const timer = setInterval(() => call.says(`part ${++parts} `), streamEveryMs);
    return () => {
      clearInterval(timer);
      call.ends();
    };
  },
};

interface Talk {
  readonly terminal: PseudoTerminal;
  readonly ask: () => ReturnType<World['modelCall']>;
}

async function echoes(start: Start, world: World, settings: Settings): Promise<Row[]> {
  const bare = start(['--eval', echo]);
  await bare.wrote('adjutant 0.', 0);
  const rows: Row[] = [];
  for (const [name, prepare] of Object.entries(situations)) {
    const terminal = start(app);
    await terminal.wrote('new session', 0);
    const ask = (): ReturnType<World['modelCall']> => {
      terminal.write('Tell me\r');
      return world.modelCall();
    };
    const end = await prepare({ terminal, ask });
    const subjects: Subject[] = [
      { name: ours, measure: () => echoOf(terminal) },
      { name: floor, measure: () => echoOf(bare) },
    ];
    rows.push({
      work: `a key to its echo (p95), ${name}`,
      unit: 'ms',
      figures: await interleave(subjects, settings.quick ? 3 : 8),
      ceiling: { limit: 50 },
    });
    end();
    terminal.close();
    await terminal.exited;
  }
  bare.close();
  return rows;
}

/** The 95th percentile of the time from a key to its echo. */
async function echoOf(terminal: PseudoTerminal): Promise<number> {
  const times: number[] = [];
  for (let key = 0; key < keyCount; key++) {
    if (key % lineLength === 0) terminal.write(ctrlU);
    const letter = letters[key % letters.length] as string;
    const before = terminal.raw.length;
    const began = performance.now();
    terminal.write(letter);
    await terminal.wrote(letter, before);
    times.push(performance.now() - began);
  }
  return new Figure(times).values[Math.ceil(times.length * 0.95) - 1] as number;
}
