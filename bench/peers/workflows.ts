import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { installPeers } from './packages.ts';

/** The parts of Mastra that are used. */
interface MastraModules {
  readonly core: {
    readonly Mastra: new (options: object) => { getWorkflow(id: string): MastraWorkflow };
  };
  readonly workflows: {
    createStep(options: object): object;
    createWorkflow(options: object): MastraWorkflow;
  };
  readonly libsql: {
    readonly LibSQLStore: new (options: { readonly id: string; readonly url: string }) => object;
  };
  readonly zod: typeof z;
}

interface MastraWorkflow {
  foreach(step: object, options: { readonly concurrency: number }): MastraWorkflow;
  commit(): MastraWorkflow;
  createRun(): Promise<{
    start(options: { readonly inputData: unknown }): Promise<MastraResult>;
  }>;
}

interface MastraResult {
  readonly status: string;
  readonly result?: unknown;
}

/**
 * Returns a function that runs a Mastra workflow of so many empty steps, so many at a time. Without
 * a file it keeps nothing.
 */
export async function mastraSubtasks(
  count: number,
  wide: number,
  file?: string,
): Promise<() => Promise<number>> {
  const { core, workflows, libsql, zod } = await load();
  const id = 'subtasks';
  const step = workflows.createStep({
    id: 'work',
    inputSchema: zod.number(),
    outputSchema: zod.number(),
    execute: async ({ inputData }: { readonly inputData: number }) => inputData,
  });
  const workflow = workflows
    .createWorkflow({ id, inputSchema: zod.array(zod.number()), outputSchema: zod.any() })
    .foreach(step, { concurrency: wide })
    .commit();
  const storage =
    file === undefined ? undefined : new libsql.LibSQLStore({ id, url: `file:${file}` });
  const mastra = new core.Mastra({
    workflows: { [id]: workflow },
    logger: false,
    ...(storage === undefined ? {} : { storage }),
  });
  const inputData = Array.from({ length: count }, (_, i) => i);
  return async () => {
    const run = await mastra.getWorkflow(id).createRun();
    const { status, result } = await run.start({ inputData });
    if (status !== 'success') throw new Error(`Mastra ended with ${status}.`);
    return Array.isArray(result) ? result.length : 0;
  };
}

async function load(): Promise<MastraModules> {
  installPeers();
  const require = createRequire(join(import.meta.dirname, 'package.json'));
  const from = async (name: string): Promise<unknown> =>
    import(pathToFileURL(require.resolve(name)).href);
  const [core, workflows, libsql, zod] = await Promise.all(
    ['@mastra/core/mastra', '@mastra/core/workflows', '@mastra/libsql', 'zod'].map(from),
  );
  return { core, workflows, libsql, zod: (zod as { z: unknown }).z } as MastraModules;
}
