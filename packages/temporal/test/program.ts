import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const program = join(root, 'packages/cli/src/main.ts');

/** The command line in a process of its own. */
export interface RunningProgram {
  readonly child: ChildProcess;
  /** Standard output so far. */
  text(): string;
  /** Lines of JSON on standard output so far. */
  lines(): readonly Record<string, unknown>[];
  finished(): Promise<{ readonly code: number | null; readonly stderr: string }>;
}

export interface Project {
  readonly run: (...args: readonly string[]) => RunningProgram;
}

/** A new folder with a configuration, `adjutant` and `@adjutant/temporal`, as a user has it. */
export function project(config: string, env: Readonly<Record<string, string>>): Project {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-temporal-'));
  const running = new Set<ChildProcess>();
  onTestFinished(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, 'node_modules/@adjutant'), { recursive: true });
  symlinkSync(join(root, 'packages/core'), join(folder, 'node_modules/adjutant'));
  symlinkSync(join(root, 'packages/temporal'), join(folder, 'node_modules/@adjutant/temporal'));
  writeFileSync(join(folder, 'adjutant.config.ts'), config);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  const own = { NODE_COMPILE_CACHE, PATH, HOME: folder, ADJUTANT_HOME: join(folder, 'data') };
  return {
    run(...args) {
      const child = spawn(process.execPath, ['--conditions=adjutant-source', program, ...args], {
        cwd: folder,
        env: { ...own, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      const said = { stdout: '', stderr: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
      const closed = once(child, 'close') as Promise<[number | null]>;
      return {
        child,
        text: () => said.stdout,
        lines: () =>
          said.stdout
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line)),
        finished: async () => {
          const [code] = await closed;
          return { code, stderr: said.stderr };
        },
      };
    },
  };
}
