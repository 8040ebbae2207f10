import { UsageError } from '../failure.ts';

export function nothingToCancel(id: string): UsageError {
  return new UsageError({ reason: `Session "${id}" has no run to cancel.` });
}
