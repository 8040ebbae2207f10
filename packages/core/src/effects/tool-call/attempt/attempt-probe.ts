import { toErrorRecord } from '../../../base/error.ts';
import type { Probe, ProbeResult } from '../../../tools/tool.ts';
import { isReleased } from '../../released.ts';
import { untilAborted } from '../../until-aborted.ts';
import type { Attempt } from './attempt.ts';

/**
 * Returns what the probe of a tool finds out about an attempt. `undefined`: the probe did not
 * finish, which leaves the attempt open. A later cancel settles it as unknown.
 */
export async function probeAttempt(
  { state, tool, call, args, attempt, key, ports }: Attempt,
  probe: Probe,
): Promise<ProbeResult | undefined> {
  // The next attempt may have another key than the one under which this attempt was made.
  const made = state.attempts.find((candidate) => candidate.attempt === attempt);
  const probing = resultOf(probe, {
    args,
    callId: call.callId,
    toolName: tool.name,
    attempt,
    idempotencyKey: made?.key ?? key,
    signal: ports.scope.signal,
  });
  const ended = await untilAborted(probing, ports);
  return ended === undefined || isReleased(ports) ? undefined : ended.value;
}

/** Runs a probe. A probe that fails has found out nothing. */
async function resultOf(probe: Probe, ctx: Parameters<Probe>[0]): Promise<ProbeResult> {
  try {
    return await probe(ctx);
  } catch (thrown) {
    return {
      happened: 'unknown',
      detail: `it could not be found out (${toErrorRecord(thrown).message})`,
    };
  }
}
