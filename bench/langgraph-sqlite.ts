import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BaseCheckpointSaver } from '@langchain/langgraph';

/**
 * The version of better-sqlite3 that comes with its native parts; the one that the checkpointer
 * names would be compiled, and ends the process on Node 24.
 */
const manifest = {
  private: true,
  dependencies: { '@langchain/langgraph-checkpoint-sqlite': '1.0.4', 'better-sqlite3': '13.2.0' },
  overrides: { 'better-sqlite3': '13.2.0' },
};
const home = join(import.meta.dirname, '../dist/bench-sqlite');
const module = join(home, 'node_modules/@langchain/langgraph-checkpoint-sqlite/dist/index.js');
const longestInstallMs = 300_000;

/** The checkpointer of LangGraph.js on a file. */
export interface SqliteSaver {
  readonly checkpointer: BaseCheckpointSaver;
  /**
   * Asked of the connection that it writes with: two libraries of SQLite in one process must not
   * open one file, since each would end the other's locks.
   */
  bytes(): number;
  close(): void;
}

interface SaverModule {
  readonly SqliteSaver: {
    fromConnString(path: string): BaseCheckpointSaver & { readonly db: Connection; setup(): void };
  };
}

interface Connection {
  pragma(text: string, options?: { readonly simple: true }): unknown;
  close(): void;
}

interface Found {
  readonly open?: (path: string, synchronous: 'full' | 'normal') => SqliteSaver;
  /** Reason why there is none. */
  readonly reason?: string;
}

let found: Promise<Found> | undefined;

/**
 * It has a native part: so it is installed outside of the workspace, on first use, and whoever
 * never measures does not need it.
 */
export function findSqliteSaver(): Promise<Found> {
  found ??= find();
  return found;
}

async function find(): Promise<Found> {
  try {
    if (!existsSync(module)) install();
    const { SqliteSaver } = (await import(pathToFileURL(module).href)) as SaverModule;
    SqliteSaver.fromConnString(':memory:').db.close();
    return {
      open(path, synchronous) {
        const saver = SqliteSaver.fromConnString(path);
        saver.setup();
        // better-sqlite3 takes NORMAL by itself where there is a log.
        saver.db.pragma(`synchronous = ${synchronous}`);
        const pragma = (name: string): number => Number(saver.db.pragma(name, { simple: true }));
        return {
          checkpointer: saver,
          bytes: () => pragma('page_count') * pragma('page_size'),
          close: () => saver.db.close(),
        };
      },
    };
  } catch (error) {
    return { reason: (error as Error).message.split('\n')[0] ?? '' };
  }
}

function install(): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  // Peer dependencies come from LangGraph.js itself, so that both share them.
  const args = [
    'install',
    '--prefix',
    home,
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--legacy-peer-deps',
  ];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const { status } = spawnSync('npm', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
    timeout: longestInstallMs,
  });
  if (status !== 0) throw new Error('npm could not install it');
}
