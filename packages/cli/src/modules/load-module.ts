import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AdjutantError, type Runtime } from 'adjutant';
import type { Host } from '../host/host.ts';
import { type ConfigHost, type ConfigOptions, findConfig } from './find-config.ts';
import { describeThrown } from './thrown.ts';

/** Error for a module of the user that cannot be loaded, or lacks a needed export. */
export class InvalidConfigError extends AdjutantError<string> {
  constructor(data: { file: string; reason: string }, options?: ErrorOptions) {
    super('invalid_config', `${data.file} ${data.reason}`, data, options);
  }
}

/** Parts of the host that the loading of modules needs. */
type ModuleHost = ConfigHost & Pick<Host, 'importModule'>;

/** Options for loading a module. */
export interface LoadOptions {
  /**
   * True when runtimes of the module look for runs to continue, as in the user's own program.
   * @default false
   */
  readonly recovers?: boolean;
}

export interface LoadedModule {
  /** Absolute path of the module. */
  readonly file: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** App of the user. */
export interface ConfiguredApp {
  readonly app: Runtime;
  /** Absolute path of the module that exports it. */
  readonly file: string;
  /** All exports of the module. */
  readonly exports: Readonly<Record<string, unknown>>;
}

/**
 * Loads a TypeScript or JavaScript module of the user. Its runtimes look for runs to continue only
 * with `recovers`. Otherwise a command works on its own session, and leaves all others alone.
 * @throws InvalidConfigError
 */
export async function loadModule(
  host: ModuleHost,
  name: string,
  { recovers = false }: LoadOptions = {},
): Promise<LoadedModule> {
  const file = resolve(host.cwd, name);
  if (!existsSync(file)) throw new InvalidConfigError({ file, reason: 'does not exist.' });
  // The runtimes read this variable, also those of another copy of the package.
  if (recovers) delete process.env['ADJUTANT_RECOVER'];
  else process.env['ADJUTANT_RECOVER'] = 'manual';
  try {
    const exports = await host.importModule(pathToFileURL(file).href);
    return { file, exports: exports as Record<string, unknown> };
  } catch (cause) {
    throw new InvalidConfigError(
      { file, reason: `cannot be loaded: ${describeThrown(cause, file)}` },
      { cause },
    );
  }
}

/**
 * Loads the user's app. The module exports it as `app` or by default, or exports a function that
 * returns it. `undefined`: there is no module, and none was asked for.
 * @throws InvalidConfigError
 */
export async function loadApp(
  host: ModuleHost,
  options: ConfigOptions,
  loading: LoadOptions = {},
): Promise<ConfiguredApp | undefined> {
  const name = findConfig(host, options);
  if (name === undefined) return undefined;
  const { file, exports } = await loadModule(host, name, loading);
  const [named, usual] = [await appIn(exports, file), await appIn(exports['default'], file)];
  const app = named ?? usual;
  if (named !== undefined && usual !== undefined && named !== usual)
    throw new InvalidConfigError({ file, reason: whyTwoApps(['app', named], ['default', usual]) });
  if (app === undefined) throw new InvalidConfigError({ file, reason: whyNoApp(exports) });
  return { app, file, exports };
}

/**
 * Returns a runtime: the value itself, its `app`, or the result of a function. It may come from
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

/** Calls a function that makes an app. @throws InvalidConfigError */
async function madeBy(make: () => unknown, file: string): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    throw new InvalidConfigError(
      { file, reason: `exports an \`app\` that cannot be made: ${describeThrown(cause, file)}` },
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

type NamedApp = readonly [name: string, app: Runtime];

function whyTwoApps(...apps: readonly NamedApp[]): string {
  const names = apps.map(([name, { app }]) => `\`${name}\` ("${app}")`).join(' and ');
  return `exports several apps: ${names}. Export one of them, as \`app\`.`;
}

function whyNoApp(exports: Readonly<Record<string, unknown>>): string {
  // Node adds the last name to modules that it takes for CommonJS.
  const names = Object.keys(exports).filter((name) => name !== 'module.exports');
  const apps = Object.entries(exports).filter((entry): entry is [string, Runtime] =>
    isRuntime(entry[1]),
  );
  if (apps.length > 1) return whyTwoApps(...apps);
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
 * Returns `adjutant/replay` of the package with which the user's app was made. Without an app, or
 * if that package has none, it is that of the command line.
 */
export async function replayingFor(
  host: Pick<Host, 'importModule'>,
  configured: ConfiguredApp | undefined,
): Promise<Replaying> {
  if (configured !== undefined) {
    try {
      const path = createRequire(configured.file).resolve('adjutant/replay');
      return (await host.importModule(pathToFileURL(path).href)) as Replaying;
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

/** Name of a module for people. */
export function shownName({ file }: { readonly file: string }): string {
  return basename(file);
}
