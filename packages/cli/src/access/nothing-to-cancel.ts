import { UsageError } from '../failure.ts';
import { inLane } from '../output/lane-text.ts';

export function nothingToCancel(id: string, lane: string | undefined): UsageError {
  return new UsageError({ reason: `Session "${id}" has no run to cancel${inLane(lane)}.` });
}
