import type { Client } from '@temporalio/client';
import { burstId, burstTimeout, burstWorkflow, queueId, timerId, wakeSignal } from './names.ts';
import type { Wake } from './outbox.ts';
import { setNextTime } from './repeats.ts';
import type { BurstInput } from './workflows/burst.ts';

export interface BurstsOptions {
  readonly app: string;
  readonly taskQueue: string;
  /** Makes a name that no other workflow has. */
  readonly unique: () => string;
  /** Epoch milliseconds by the clock of the app. */
  readonly now: () => number;
}

/**
 * Hands a wake on to Temporal: it starts a workflow, or signals the one that the session has.
 * @throws errors of the client
 */
export async function sendWake(
  client: Client,
  { app, now, taskQueue, unique }: BurstsOptions,
  { at, level, place, repeats }: Wake,
): Promise<void> {
  if (repeats === true && place !== undefined && at !== undefined)
    return setNextTime(client, { app, taskQueue, place, at });
  const input: BurstInput = {
    app,
    ...(place === undefined ? {} : { tenant: place.tenant, session: place.session }),
  };
  const options = {
    taskQueue,
    args: [input],
    workflowExecutionTimeout: burstTimeout,
    // Lower numbers go first; of one number each tenant gets its share.
    priority: { priorityKey: level + 1, fairnessKey: place?.tenant ?? 'all' },
  } as const;
  const { workflow } = client;
  const startDelay = at === undefined ? 0 : Math.max(0, at - now());
  if (at !== undefined && startDelay > 0)
    await workflow.start(burstWorkflow, {
      ...options,
      workflowId: timerId(app, place, at),
      workflowIdConflictPolicy: place === undefined ? 'USE_EXISTING' : 'TERMINATE_EXISTING',
      startDelay,
    });
  else if (place === undefined)
    await workflow.start(burstWorkflow, { ...options, workflowId: queueId(app, unique()) });
  else
    await workflow.signalWithStart(burstWorkflow, {
      ...options,
      workflowId: burstId(app, place),
      signal: wakeSignal,
      signalArgs: [],
    });
}
