import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { connectionOptions } from './connection.ts';
import type { ResolvedOptions } from './options.ts';
import type { BurstActivities } from './workflows/burst.ts';

/** File of the workflows, beside this one: the source, or what was made of it. */
const workflowsPath = fileURLToPath(
  new URL(`./workflows/burst${extname(import.meta.url)}`, import.meta.url),
);

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** Bundles the workflows once for all workers of the process: it takes half a second. */
function bundled(): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundleWorkflowCode({ workflowsPath, logger }).catch((error: unknown) => {
    // The next worker tries again.
    bundle = undefined;
    throw error;
  });
  return bundle;
}

/** Says what goes wrong only. */
const logger = new DefaultLogger('WARN');
let isInstalled = false;

/** Leaves signals to the program. */
function installRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  try {
    Runtime.install({ logger, shutdownSignals: [] });
  } catch {
    // The program has installed its own.
  }
}

/** A worker that polls. */
export interface RunningWorker {
  /** Rejects when it has failed, resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it, and waits for that. */
  stop(): Promise<void>;
}

export interface WorkerParts {
  readonly taskQueue: string;
  readonly slots: number;
  readonly activities: BurstActivities;
}

/** @throws errors of the connection and of the bundling of the workflows */
export async function startWorker(
  options: ResolvedOptions,
  { activities, slots, taskQueue }: WorkerParts,
): Promise<RunningWorker> {
  installRuntime();
  const connection = await NativeConnection.connect(connectionOptions(options));
  const worker = await Worker.create({
    connection,
    namespace: options.namespace,
    taskQueue,
    workflowBundle: await bundled(),
    activities: { ...activities },
    maxConcurrentActivityTaskExecutions: slots,
    shutdownGraceTime: '1 second',
    shutdownForceTime: '5 seconds',
  });
  const ended = worker.run().finally(() => connection.close());
  ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended.catch(() => undefined);
    },
  };
}
