import { spawn } from 'node:child_process';
import type { Host } from '../host/host.ts';
import { formatCount } from '../output/format.ts';
import { plainText } from '../output/plain-text.ts';
import { Spinner } from '../output/spinner.ts';
import { styleFor } from '../output/style.ts';

interface Ran {
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

interface Step {
  /** Shown while it runs. */
  readonly label: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Shown behind the mark when it succeeded. */
  readonly done: (ran: Ran) => string;
}

const steps: readonly Step[] = [
  {
    label: 'npm install',
    args: ['install', '--no-audit', '--no-fund', '--loglevel=error'],
    done: ({ seconds }) => `npm install ${Math.round(seconds)} s`,
  },
  { label: 'tsc', args: ['run', '--silent', 'check'], done: () => 'tsc' },
  {
    label: 'npm test',
    args: ['test', '--silent'],
    done: ({ output }) => `${formatCount(passedTests(output), 'test')} passed`,
  },
  {
    label: 'npm run eval',
    // The sessions of this proof are not kept, and no provider is asked.
    args: ['run', '--silent', 'eval', '--', '--json', '--store', ':memory:'],
    env: { ADJUTANT_MODEL: 'rehearsal' },
    done: ({ output }) => `${formatCount(passedCases(output), 'eval case')} passed (rehearsal)`,
  },
];

/** Reason why the installation is not begun. `undefined`: it can be. */
export type Hindrance = string | undefined;

/**
 * Installs the packages of a project, checks its types, and runs its test and its eval. Reports
 * each, and ends with the first that fails.
 */
export async function verifyProject(
  host: Host,
  folder: string,
  hindrance: Hindrance,
): Promise<boolean> {
  const style = styleFor(host.stdout);
  const spinner = host.stdout.isTTY ? new Spinner(host.stdout, host.clock, style) : undefined;
  const said: string[] = [];
  for (const step of steps) {
    spinner?.show(`${step.label} …`);
    const ran =
      hindrance === undefined
        ? await runNpm(host, folder, step)
        : { ok: false, output: hindrance, seconds: 0 };
    spinner?.hide();
    if (!ran.ok) {
      const before = said.length === 0 ? '' : `${said.join(' · ')} · `;
      host.stdout.write(`${before}${style.red('✗')} ${step.label}: ${reasonIn(ran.output)}\n`);
      return false;
    }
    said.push(`${style.green('✓')} ${step.done(ran)}`);
  }
  host.stdout.write(`${said.join(' · ')}\n`);
  return true;
}

async function runNpm(host: Host, cwd: string, { args, env = {} }: Step): Promise<Ran> {
  const began = host.clock.now();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // `npm` is a script on Windows, which only a shell starts.
  const shell = host.platform === 'win32';
  const child = spawn('npm', args, { cwd, env: { ...withoutNpm(host.env), ...env }, shell });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stdin.end();
  child.on('error', (error) => {
    output += error.message;
    resolve(false);
  });
  child.on('close', (code) => resolve(code === 0));
  const ok = await promise;
  return { ok, output, seconds: (host.clock.now() - began) / 1_000 };
}

/**
 * The environment without what an npm has set that started this program: it names another package,
 * and a prefix that is not the folder of the project.
 */
function withoutNpm(env: Host['env']): Host['env'] {
  const own = /^npm_(?:package|lifecycle|command|config_(?:prefix|local_prefix|global))|^INIT_CWD$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}

function passedTests(output: string): number {
  return Number(/^\S+ pass (\d+)$/m.exec(output)?.[1] ?? 0);
}

/** Cases of the report, the last line of `adjutant eval --json`. */
function passedCases(output: string): number {
  const line = output.split('\n').findLast((text) => text.startsWith('{"type":"report"'));
  if (line === undefined) return 0;
  const { report } = JSON.parse(line) as {
    readonly report: { readonly variants: readonly { readonly cases: readonly unknown[] }[] };
  };
  return report.variants.reduce((count, { cases }) => count + cases.length, 0);
}

const mostLines = 12;

/** End of what a failed step printed. */
function reasonIn(output: string): string {
  const lines = plainText(output)
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length <= 1) return lines[0] ?? 'it printed nothing.';
  return `\n  ${lines.slice(-mostLines).join('\n  ')}`;
}
