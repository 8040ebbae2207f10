import type { Event } from '../../../ledger/event.ts';
import type { RecordedOutcome } from '../../../ledger/recording.ts';
import type { Attempt } from './attempt.ts';
import { endingWith } from './ending.ts';
import type { Execution } from './execution.ts';

/**
 * Resolves when the recorded end of an attempt is next, in a replay. `undefined`: the attempt must
 * be made.
 */
export function recordedEnd(
  { call: { callId }, attempt, ports }: Attempt,
  { mayRun = false, takesRaw = false } = {},
): Promise<RecordedOutcome> | undefined {
  const landing = (events: readonly Event[]): void => ports.supervisor?.landing(callId, events);
  return ports.ledger.ports.recording?.attemptEnded({ callId, attempt, mayRun, takesRaw, landing });
}

/** Passes a recorded raw result through the usual checks, because nothing had been made of it. */
export async function recordRawResult(
  { ports }: Attempt,
  execution: Execution,
  outcome: RecordedOutcome,
): Promise<void> {
  const given = 'raw' in outcome ? outcome.raw.at(-1) : undefined;
  if (given?.type !== 'tool_result') return;
  execution.begin();
  const { result } = ports.ledger.whole(given);
  await execution.record(endingWith(result, undefined), true);
}
