import type { Engine } from 'adjutant/ports';

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
  const entry = new URL('../../packages/temporal/src/index.ts', import.meta.url).href;
  const { temporalEngine } = (await import(entry)) as TemporalPackage;
  return { engine: temporalEngine({ address, worker }) };
}
