import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { systemClock } from 'adjutant/ports';
import { forbidRealModels } from 'adjutant/testing';
import { runCli } from '../src/cli.ts';
import type { Host, OutputStream } from '../src/host/host.ts';

// `require` loads it without Vitest.
const { importNatively } = createRequire(import.meta.url)(
  './fixtures/import-natively.ts',
) as typeof import('./fixtures/import-natively.ts');
/** Variable that a command sets for the modules that it loads. Its process takes it along. */
const recoverVariable = 'ADJUTANT_RECOVER';
const ownSource = new URL('../../', import.meta.url).href;

// Times and colours are those of the processes that the other tests start.
process.env['TZ'] = 'UTC';
delete process.env['FORCE_COLOR'];
delete process.env['NO_COLOR'];

export interface InProcessOptions {
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables of the environment that modules of the user read from `process.env`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Text on standard input. */
  readonly input: string;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Carries out a command line in the process of the test, with streams and an environment of its
 * own. `real-program.test.ts` proves what the process of the real program adds to this.
 */
export async function runInProcess(
  args: readonly string[],
  { cwd, env, variables, input }: InProcessOptions,
): Promise<Outcome> {
  // Those that a test can answer: rules, and a server of its own. The setup of each file allows less.
  forbidRealModels({ allow: ['scripted:*', 'rehearsal:*', 'openai-compatible:*'] });
  const stdout = collector();
  const stderr = collector();
  const ownEnv: Record<string, string | undefined> = { ...env };
  const host: Host = {
    stdin: Readable.from([input]) as NodeJS.ReadStream,
    isPiped: false,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: ownEnv,
    cwd,
    platform: process.platform,
    clock: systemClock,
    signals: {
      listen: () => undefined,
      endBy: () => undefined,
      exit: () => undefined,
      atEnd: () => () => undefined,
      onJobControl: () => () => undefined,
      stopHere: async () => undefined,
    },
    setVariable: (name, value) => {
      ownEnv[name] = value;
    },
    // The folder of the process belongs to all tests.
    enterFolder: () => undefined,
    importModule: freshImports(),
  };
  const code = await withVariables(variables, () => runCli(args, host));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** A stream that is no terminal, and the text that was written to it. */
function collector(): { readonly stream: OutputStream; text(): string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

let commands = 0;

/** Evaluates the modules of the user anew for each command, as a process of its own would. */
function freshImports(): Host['importModule'] {
  const command = ++commands;
  return (url) => {
    const isUsers = !url.startsWith(ownSource) || url.includes('/test/');
    return importNatively(isUsers ? `${url}?command=${command}` : url);
  };
}

/** Sets variables of `process.env` during some work, and then puts back those that were there. */
async function withVariables<Result>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const names = [...Object.keys(variables), recoverVariable];
  const before = names.map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
