import {
  ActivityFailure,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  TimeoutFailure,
} from '@temporalio/workflow';

// FROZEN. A change of the commands that this workflow makes cannot continue the workflows that are
// running. `test/replay.test.ts` replays it against stored histories. Another shape is another
// file with another name of the workflow, and the next `workflowVersion`.

/** Names alone: nothing of a ledger goes through Temporal. */
export interface BurstInput {
  readonly app: string;
  /** Missing together with `session`: the next session of the queue. */
  readonly tenant?: string;
  readonly session?: string;
}

export interface BurstActivities {
  advance(input: BurstInput): Promise<{ readonly began: number }>;
}

/** Numbers of calls after which the history is begun anew. */
const mostRounds = 100;

const { advance } = proxyActivities<BurstActivities>({
  startToCloseTimeout: '10 minutes',
  scheduleToStartTimeout: '30 seconds',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    maximumAttempts: 3,
    nonRetryableErrorTypes: ['ValidationError', 'BudgetExceeded', 'StepLimitExceeded'],
  },
});

const wake = defineSignal('wake');

/**
 * One burst of work: it lets a worker advance a session, and again when it was woken meanwhile. No
 * worker within 30 seconds: it ends, because the session stays due in the store.
 */
export async function adjutantBurst1(input: BurstInput): Promise<'done' | 'no_worker'> {
  let wakes = 0;
  setHandler(wake, () => {
    wakes += 1;
  });
  for (let round = 0; round < mostRounds; round++) {
    const before = wakes;
    try {
      await advance(input);
    } catch (error) {
      if (isUnstarted(error)) return 'no_worker';
      throw error;
    }
    if (wakes === before) return 'done';
  }
  return continueAsNew<typeof adjutantBurst1>(input);
}

function isUnstarted(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}
