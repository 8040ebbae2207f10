import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { EngineWork } from 'adjutant/ports';
import type { BurstActivities, BurstInput } from './workflows/burst.ts';

/** Interval in milliseconds at which a worker tells that it lives. */
const heartbeatMs = 3_000;

export interface ActivityParts {
  readonly work: EngineWork;
  /** Aborts when the engine stops. */
  readonly stopping: AbortSignal;
  /** Called when a burst has begun to work on a session of the queue. */
  readonly onTaken: () => void;
  /** Called with each burst that a worker of this process carries out. */
  readonly onBurst: () => void;
}

/** The one activity: it advances a session. */
export function activitiesOf({ onBurst, onTaken, stopping, work }: ActivityParts): BurstActivities {
  return {
    async advance({ app, session, tenant }: BurstInput) {
      if (app !== work.app)
        throw ApplicationFailure.create({
          type: 'WrongApp',
          message: `This worker has the app "${work.app}", and not "${app}".`,
        });
      if (stopping.aborted) throw stopped();
      onBurst();
      const context = Context.current();
      const place = tenant === undefined || session === undefined ? undefined : { tenant, session };
      const signal = AbortSignal.any([stopping, context.cancellationSignal]);
      // From a timer: work that hangs without a word is the store's matter, by its lease.
      const endHeartbeats = every(work, heartbeatMs, () => context.heartbeat());
      try {
        const { began } = await work.advance(place, {
          signal,
          // There may be more where this one was: somebody else takes it meanwhile.
          onBegin: (count) => {
            if (place === undefined && count > 0) onTaken();
          },
        });
        if (stopping.aborted) throw stopped();
        return { began };
      } finally {
        endHeartbeats();
      }
    },
  };
}

/** The failure by which Temporal lets another worker go on. */
function stopped(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WorkerStopped',
    message: 'The worker is ending.',
    category: ApplicationFailureCategory.BENIGN,
  });
}

function every({ host }: EngineWork, ms: number, task: () => void): () => void {
  let cancel: () => void;
  const arm = (): void => {
    cancel = host.setBackgroundTimer(ms, () => {
      task();
      arm();
    });
  };
  arm();
  return () => cancel();
}
