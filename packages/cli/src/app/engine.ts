import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MissingPackageError } from 'adjutant/errors';
import { type Engine, embeddedEngine } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { type ConfiguredApp, InvalidConfigError } from '../modules/load-module.ts';

/** Options that choose the engine of an app. */
export interface EngineOptions {
  /** @default that of the app */
  readonly engine?: 'embedded' | 'temporal';
  readonly temporalAddress?: string;
  readonly temporalNamespace?: string;
  readonly temporalQueue?: string;
}

/** Part of `@adjutant/temporal` that is used; it is installed beside the user's app. */
interface TemporalModule {
  temporalEngine(options: object): Engine;
}

const temporalPackage = '@adjutant/temporal';

/** @throws UsageError for options of Temporal without it */
export function checkEngineOptions(options: EngineOptions): void {
  const { engine, temporalAddress, temporalNamespace, temporalQueue } = options;
  const given = Object.entries({
    '--temporal-address': temporalAddress,
    '--temporal-namespace': temporalNamespace,
    '--temporal-queue': temporalQueue,
  }).find(([, value]) => value !== undefined);
  if (engine !== 'temporal' && given !== undefined)
    throw new UsageError({ reason: `${given[0]} is for --engine temporal. Give both.` });
}

/**
 * Makes the engine that the options name. `undefined`: the app has its own.
 * @throws MissingPackageError, InvalidConfigError; InvalidTemporalOptionsError
 */
export async function chosenEngine(
  host: Pick<Host, 'cwd' | 'importModule'>,
  options: EngineOptions,
  configured: ConfiguredApp | undefined,
): Promise<Engine | undefined> {
  if (options.engine === undefined) return undefined;
  if (options.engine === 'embedded') return embeddedEngine();
  const { temporalAddress, temporalNamespace, temporalQueue } = options;
  const given = defined({
    address: temporalAddress,
    namespace: temporalNamespace,
    taskQueue: temporalQueue,
  });
  const { temporalEngine } = await loadTemporal(host);
  return temporalEngine({ ...temporalIn(configured), ...given });
}

/** Options for Temporal that the module exports. @throws InvalidConfigError */
function temporalIn(configured: ConfiguredApp | undefined): object {
  const own = configured?.exports['temporal'] ?? {};
  if (typeof own === 'object' && !Array.isArray(own)) return own;
  throw new InvalidConfigError({
    file: configured?.file ?? '',
    reason:
      'exports a `temporal` that is not an object with options: export const temporal = { ' +
      "address: '127.0.0.1:7233' };",
  });
}

/** @throws MissingPackageError */
async function loadTemporal({
  cwd,
  importModule,
}: Pick<Host, 'cwd' | 'importModule'>): Promise<TemporalModule> {
  const file = [join(cwd, 'any.js'), import.meta.filename].map(resolvedFrom).find(Boolean);
  if (file === undefined)
    throw new MissingPackageError({ package: temporalPackage, needed: '--engine temporal' });
  return (await importModule(pathToFileURL(file).href)) as TemporalModule;
}

/** Path of the package as a module sees it; `undefined` when it is not installed there. */
function resolvedFrom(module: string): string | undefined {
  try {
    return createRequire(module).resolve(temporalPackage);
  } catch {
    return undefined;
  }
}
