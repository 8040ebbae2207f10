import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Runnable, Runtime, Store } from 'adjutant';
import type { Dataset, EvalOptions, EvalVariant } from 'adjutant/eval';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { findConfig } from './find-config.ts';
import { InvalidConfigError, loadModule, shownName } from './load-module.ts';

/** The functions of `adjutant/eval`. */
export type EvalLibrary = typeof import('adjutant/eval');

/** Argument for a module whose default export is a function that returns an eval. */
export interface EvalModuleContext {
  /**
   * Store of `--store`, else that of the command line. `adjutant show` shows the sessions in it.
   */
  readonly store: Store;
}

/** Exports of a configuration that concern evals, as named exports or in the default export. */
interface EvalConfig {
  readonly app?: Runtime | (() => Runtime | Promise<Runtime>);
  readonly runnable?: Runnable;
  readonly eval?: Partial<EvalOptions>;
}

export interface LoadedEval {
  /** Copy of the package that the module itself uses. Another copy would not know its apps. */
  readonly library: EvalLibrary;
  /** Options of the eval, from the module or the configuration. */
  readonly options: EvalOptions;
  readonly dataset: Dataset;
  /** True when the module took the given store. */
  readonly tookStore: boolean;
}

const moduleEndings: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];

/**
 * Loads an eval: a module that defines one, or a dataset together with a configuration.
 * @throws UsageError, InvalidConfigError, InvalidDatasetError
 */
export async function loadEval(
  host: Host,
  name: string,
  config: string | undefined,
  context: EvalModuleContext,
): Promise<LoadedEval> {
  const path = resolve(host.cwd, name);
  if (!existsSync(path)) throw new UsageError({ reason: `There is no file ${path}.` });
  const isModule = moduleEndings.includes(extname(path).toLowerCase());
  const found = isModule ? await exportedEval(host, path, context) : undefined;
  if (found === undefined) return withConfig(host, path, config);
  if (config !== undefined)
    throw new UsageError({
      reason: `--config: ${name} says itself what is measured. Leave one of the two out.`,
    });
  const library = await libraryFor(host, path);
  const options = library.defineEval({
    ...found.options,
    name: found.options.name ?? nameOf(path),
  });
  return {
    library,
    options,
    dataset: await datasetOf(library, options),
    tookStore: found.tookStore,
  };
}

/** Returns the eval that a module exports. An eval differs from a dataset by its variants. */
async function exportedEval(
  host: Host,
  path: string,
  context: EvalModuleContext,
): Promise<Pick<LoadedEval, 'options' | 'tookStore'> | undefined> {
  const { exports } = await loadModule(host, path);
  const exported = exports['default'];
  const tookStore = typeof exported === 'function';
  const value: unknown = tookStore
    ? await (exported as (given: EvalModuleContext) => unknown)(context)
    : exported;
  if (typeof value === 'object' && value !== null && 'variants' in value)
    return { options: value as EvalOptions, tookStore };
  if (!tookStore) return undefined;
  throw new InvalidConfigError({
    file: path,
    reason: 'exports a function that gives no eval: it must return defineEval({ … }).',
  });
}

async function withConfig(
  host: Host,
  path: string,
  config: string | undefined,
): Promise<LoadedEval> {
  const { file, exports } = await loadModule(host, configName(host, config, path));
  const library = await libraryFor(host, file);
  const dataset = await library.readDataset(path);
  const {
    app,
    runnable,
    eval: given = {},
  } = { ...exports, ...(exports['default'] ?? {}) } as EvalConfig;
  const variants = given.variants ?? ownVariant(app, runnable);
  if (variants === undefined) {
    const reason =
      'does not say what is measured: it must export `app` and `runnable`, or `eval` with ' +
      '`variants`.';
    throw new InvalidConfigError({ file, reason });
  }
  const options = library.defineEval({
    name: dataset.name ?? nameOf(path),
    ...given,
    variants,
    dataset,
  });
  return { library, options, dataset, tookStore: false };
}

function ownVariant(
  app: EvalConfig['app'],
  runnable: Runnable | undefined,
): readonly EvalVariant[] | undefined {
  return app === undefined || runnable === undefined
    ? undefined
    : [{ name: runnable.name, app, runnable }];
}

function configName(host: Host, given: string | undefined, dataset: string): string {
  const name = findConfig(host, given === undefined ? {} : { config: given });
  if (name !== undefined) return name;
  const reason =
    `${shownName({ file: dataset })} is a dataset, and nothing says what it measures: write ` +
    'adjutant.config.ts, which exports app and runnable, or name such a module with --config.';
  throw new UsageError({ reason });
}

function nameOf(path: string): string {
  return basename(path, extname(path)).replace(/\.eval$/, '');
}

async function libraryFor(host: Host, path: string): Promise<EvalLibrary> {
  let file: string;
  try {
    file = createRequire(path).resolve('adjutant/eval');
  } catch {
    // A module without its own copy of the package uses this one.
    return import('adjutant/eval');
  }
  return (await host.importModule(pathToFileURL(file).href)) as EvalLibrary;
}

async function datasetOf(
  { parseDataset, readDataset }: EvalLibrary,
  { dataset, name }: EvalOptions,
): Promise<Dataset> {
  if (typeof dataset === 'string' || dataset instanceof URL) return readDataset(dataset);
  return parseDataset(dataset, 'source' in dataset ? dataset.source : `of the eval "${name}"`);
}
