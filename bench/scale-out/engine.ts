import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Engine } from 'adjutant/ports';
import { repositoryRoot } from '../../scripts/command.ts';

interface TemporalPackage {
  temporalEngine(options: { readonly address: string; readonly worker: boolean }): Engine;
}

/** Option of an app: the engine of Temporal, or none without an address. */
export async function engineAt(
  address: string,
  { worker }: { readonly worker: boolean },
): Promise<{ readonly engine?: Engine }> {
  if (address === '') return {};
  // The package has a lockfile of its own, so it may not be installed.
  const entry = pathToFileURL(join(repositoryRoot, 'packages/temporal/src/index.ts')).href;
  const { temporalEngine } = (await import(entry)) as TemporalPackage;
  return { engine: temporalEngine({ address, worker }) };
}
