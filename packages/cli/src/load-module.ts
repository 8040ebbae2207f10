import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AdjutantError, type Runtime } from 'adjutant';
import type { Host } from './host.ts';

/** A module of the user's cannot be loaded, or does not have what it is loaded for. */
export class InvalidConfigError extends AdjutantError<string> {
  constructor(data: { file: string; reason: string }, options?: ErrorOptions) {
    super('invalid_config', `${data.file} ${data.reason}`, data, options);
  }
}

/** How a module is loaded. */
export interface LoadOptions {
  /**
   * Whether runtimes that it makes look for runs to continue, as they do in the user's own program.
   * @default false
   */
  readonly recovers?: boolean;
}

export interface ConfigOptions {
  /**
   * The module that exports the app; `false`: none. @default the first of `configNames` that there
   * is in the working folder
   */
  readonly config?: string | false;
}

/** Looked for in this order in the working folder. */
export const configNames: readonly string[] = [
  'adjutant.config.ts',
  'adjutant.config.mts',
  'adjutant.config.js',
  'adjutant.config.mjs',
];

export interface LoadedModule {
  /** The whole path of its file. */
  readonly file: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** An app of the user's. */
export interface ConfiguredApp {
  readonly app: Runtime;
  /** The whole path of the module that exports it. */
  readonly file: string;
  /** What else the module says. */
  readonly exports: Readonly<Record<string, unknown>>;
}

/**
 * Loads a TypeScript or JavaScript module of the user's. Runtimes that it makes do not look for
 * runs to continue unless that is wanted: a command works on what it was given, and leaves all
 * others alone.
 * @throws InvalidConfigError
 */
export async function loadModule(
  host: Pick<Host, 'cwd'>,
  name: string,
  { recovers = false }: LoadOptions = {},
): Promise<LoadedModule> {
  const file = resolve(host.cwd, name);
  if (!existsSync(file)) throw new InvalidConfigError({ file, reason: 'does not exist.' });
  // Read by the runtimes of whichever copy of the package the module has.
  if (recovers) delete process.env['ADJUTANT_RECOVER'];
  else process.env['ADJUTANT_RECOVER'] = 'manual';
  try {
    return { file, exports: (await import(pathToFileURL(file).href)) as Record<string, unknown> };
  } catch (cause) {
    throw new InvalidConfigError(
      { file, reason: `cannot be loaded: ${describeThrown(cause)}` },
      { cause },
    );
  }
}

function describeThrown(thrown: unknown): string {
  if (!(thrown instanceof Error))
    return `it throws ${JSON.stringify(thrown) ?? String(thrown)}, which is not an error.`;
  const text =
    `${thrown.name}: ` + `${thrown.message}${thrown instanceof SyntaxError ? placeOf(thrown) : ''}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Where a module cannot be parsed, which may be one that it imports: Node begins the stack with it.
 */
function placeOf({ stack = '' }: SyntaxError): string {
  const [first = ''] = stack.split('\n');
  return /^(?:file:|\/|[A-Za-z]:\\).*:\d+$/.test(first) ? ` (${first})` : '';
}

/**
 * The user's app: what the module exports as `app` or by default, or what a function that it
 * exports so makes. `undefined`: there is no module, and none was asked for.
 * @throws InvalidConfigError
 */
export async function loadApp(
  host: Pick<Host, 'cwd'>,
  { config }: ConfigOptions,
  loading: LoadOptions = {},
): Promise<ConfiguredApp | undefined> {
  if (config === false) return undefined;
  const name = config ?? configNames.find((candidate) => existsSync(resolve(host.cwd, candidate)));
  if (name === undefined) return undefined;
  const { file, exports } = await loadModule(host, name, loading);
  const app = (await appIn(exports, file)) ?? (await appIn(exports['default'], file));
  if (app === undefined) throw new InvalidConfigError({ file, reason: whyNoApp(exports) });
  return { app, file, exports };
}

/**
 * A runtime, the one that an object has as `app`, or what a function makes. It may come from
 * another copy of the package.
 */
async function appIn(value: unknown, file: string): Promise<Runtime | undefined> {
  if (isRuntime(value)) return value;
  const { app } = (typeof value === 'object' && value !== null ? value : { app: value }) as {
    readonly app?: unknown;
  };
  const made = typeof app === 'function' ? await madeBy(app as () => unknown, file) : app;
  return isRuntime(made) ? made : undefined;
}

/** @throws InvalidConfigError */
async function madeBy(make: () => unknown, file: string): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    throw new InvalidConfigError(
      { file, reason: `exports an \`app\` that cannot be made: ${describeThrown(cause)}` },
      { cause },
    );
  }
}

function isRuntime(value: unknown): value is Runtime {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('app' in value) ||
    typeof value.app !== 'string'
  )
    return false;
  const methods = value as Readonly<Record<string, unknown>>;
  return ['run', 'resume', 'cancel', 'close'].every((name) => typeof methods[name] === 'function');
}

function whyNoApp(exports: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exports);
  const wanted =
    'It must export a runtime as `app` or by default: export const app = runtime({ app: ' +
    "'shop', runnables: [clerk] });";
  if ('app' in exports) return `exports an \`app\` that is not a runtime. ${wanted}`;
  return (
    `exports no app${names.length === 0 ? '' : ` (but ${names.slice(0, 10).join(', ')})`}. ` +
    `${wanted}`
  );
}

export type Replaying = typeof import('adjutant/replay');

/**
 * `adjutant/replay` of the package that the user's app was made with; without an app, or where it
 * has none, that of the command line.
 */
export async function replayingFor(configured: ConfiguredApp | undefined): Promise<Replaying> {
  if (configured !== undefined) {
    try {
      const path = createRequire(configured.file).resolve('adjutant/replay');
      return (await import(pathToFileURL(path).href)) as Replaying;
    } catch (error) {
      if (!isNotThere(error)) throw error;
    }
  }
  return import('adjutant/replay');
}

function isNotThere(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return (
    code === 'MODULE_NOT_FOUND' ||
    code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' ||
    code === 'ERR_MODULE_NOT_FOUND'
  );
}

/** The name of a module for people. */
export function shownName({ file }: { readonly file: string }): string {
  return basename(file);
}
