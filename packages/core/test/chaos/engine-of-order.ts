import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Engine, embeddedEngine } from 'adjutant/ports';
import type { WorkerOrder } from './order.ts';
import { unreliableEngine } from './unreliable-engine.ts';

/** The engine of a worker, with wakes that cannot be relied upon. */
export async function engineOfWorker(order: WorkerOrder): Promise<Engine> {
  return unreliableEngine(
    order.engine === 'embedded' ? embeddedEngine() : await temporal(order, true),
  );
}

/** The engine of the process that submits, if it has one. */
export async function engineOfSubmitter(order: WorkerOrder): Promise<Engine | undefined> {
  return order.engine === 'embedded' ? undefined : temporal(order, false);
}

interface TemporalPackage {
  temporalEngine(options: { readonly address: string; readonly worker: boolean }): Engine;
}

/** The package has a lockfile of its own, and is found by its path. */
async function temporal({ root, temporal }: WorkerOrder, worker: boolean): Promise<Engine> {
  const entry = pathToFileURL(join(root, 'packages/temporal/src/index.ts')).href;
  const { temporalEngine } = (await import(entry)) as TemporalPackage;
  return temporalEngine({ address: temporal, worker });
}
