import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import type { EnginePlace } from 'adjutant/ports';
import { burstTimeout, burstWorkflow, queueId, repeatId } from './names.ts';

export interface RepeatOptions {
  readonly app: string;
  readonly taskQueue: string;
  readonly place: EnginePlace;
  /** Epoch milliseconds of the next time. */
  readonly at: number;
}

const months = [
  ...(['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE'] as const),
  ...(['JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'] as const),
];

/**
 * Sets the next time of a trigger in its Schedule, which is made with the first one. When it fires
 * follows from its ledger, so the Schedule has that one time alone: rules in two places would
 * differ some day, such as at a change of the clocks.
 */
export async function setNextTime(client: Client, options: RepeatOptions): Promise<void> {
  const scheduleId = repeatId(options.app, options.place);
  const made = scheduleOf(options);
  try {
    await client.schedule
      .getHandle(scheduleId)
      .update((previous) => ({ ...previous, spec: made.spec }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    try {
      await client.schedule.create({ scheduleId, ...made });
    } catch (raced) {
      // Another process was quicker, and knows the same ledger.
      if (!(raced instanceof ScheduleAlreadyRunning)) throw raced;
    }
  }
}

function scheduleOf({
  app,
  at,
  taskQueue,
}: RepeatOptions): Pick<ScheduleOptions, 'spec' | 'action' | 'policies'> {
  // Schedules know whole seconds. Too late by less than one is better than too early.
  const time = new Date(Math.ceil(at / 1_000) * 1_000);
  return {
    spec: {
      calendars: [
        {
          year: time.getUTCFullYear(),
          month: months[time.getUTCMonth()] ?? 'JANUARY',
          dayOfMonth: time.getUTCDate(),
          hour: time.getUTCHours(),
          minute: time.getUTCMinutes(),
          second: time.getUTCSeconds(),
        },
      ],
    },
    action: {
      type: 'startWorkflow',
      workflowType: burstWorkflow,
      workflowId: queueId(app, 'trigger'),
      taskQueue,
      args: [{ app }],
      workflowExecutionTimeout: burstTimeout,
    },
    policies: { overlap: 'ALLOW_ALL', catchupWindow: '1 minute' },
  };
}
