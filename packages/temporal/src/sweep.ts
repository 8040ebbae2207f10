import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TemporalWorkflowVersionError } from './errors.ts';
import { burstTimeout, burstWorkflow, queueId, sweepId, workflowVersion } from './names.ts';

export interface SweepOptions {
  readonly app: string;
  readonly taskQueue: string;
  readonly sweepMs: number;
}

/**
 * Makes the Schedule by which Temporal looks at the queue of an app again and again, unless there
 * is one. Its note has the version of the workflows.
 * @throws TemporalWorkflowVersionError when a later version has made it
 */
export async function ensureSweep(client: Client, options: SweepOptions): Promise<void> {
  const { app } = options;
  const handle = client.schedule.getHandle(sweepId(app));
  try {
    const { memo } = await handle.describe();
    const found = Number(memo?.['workflowVersion'] ?? workflowVersion);
    if (found > workflowVersion)
      throw new TemporalWorkflowVersionError({ app, found, known: workflowVersion });
    await handle.update((previous) => ({ ...previous, ...scheduleOf(options) }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    try {
      await client.schedule.create({
        scheduleId: sweepId(app),
        memo: { workflowVersion },
        ...scheduleOf(options),
      });
    } catch (raced) {
      // Another process was quicker.
      if (!(raced instanceof ScheduleAlreadyRunning)) throw raced;
    }
  }
}

function scheduleOf({
  app,
  sweepMs,
  taskQueue,
}: SweepOptions): Pick<ScheduleOptions, 'spec' | 'action' | 'policies'> {
  return {
    spec: { intervals: [{ every: sweepMs }] },
    action: {
      type: 'startWorkflow',
      workflowType: burstWorkflow,
      workflowId: queueId(app, 'sweep'),
      taskQueue,
      args: [{ app }],
      workflowExecutionTimeout: burstTimeout,
    },
    // A sweep that has found work is no reason to leave the next one out.
    policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '10 seconds' },
  };
}
