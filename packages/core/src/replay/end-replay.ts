import { systemClock } from '../base/clock.ts';
import { LedgerConflictError } from '../ledger/errors.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';
import type { ReplayRecording } from './replay-recording.ts';

/** The app of a replay, its session and the record that it is held against. */
export interface ReplayStage {
  readonly app: Runtime;
  readonly session: Session;
  readonly recording: ReplayRecording;
}

/**
 * Milliseconds that the app of a replay may take to close. Code that hangs in it would hang
 * forever.
 */
const longestCloseMs = 50;

/** Ends a replay. Code that is under way gets the error that another process owns the ledger. */
export async function endReplay({ app, session, recording }: ReplayStage): Promise<void> {
  const head = { seq: session.ledger.lastSeq, epoch: session.ledger.lease.epoch };
  session.ledger.fail(
    new LedgerConflictError({ session: session.id, expected: head, found: head }),
  );
  recording.close();
  let cancelTimer = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    cancelTimer = systemClock.setTimer(longestCloseMs, resolve);
  });
  await Promise.race([app.close().catch(() => undefined), late]);
  cancelTimer();
}
