import type {
  CheckedCall,
  CheckMode,
  EndedAttempt,
  SupervisedCall,
  SupervisedResult,
} from '../../../effects/tool-call/supervisor.ts';
import type { Writes } from '../../../effects/writes.ts';
import { joinedWrites } from '../../../effects/writes.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';

/** Check of a call before its attempt. */
export interface CallStage {
  /** True when the stage also judges calls that an earlier stage refused. Its refusal wins. */
  readonly judgesRefused?: true;
  check(call: SupervisedCall, mode: CheckMode): CheckedCall | undefined;
}

/** Check of a result after its attempt. It changes the `outcome` in place. */
export interface ResultStage {
  after(attempt: EndedAttempt, outcome: Outcome): void;
}

/** Result of a call as the stages after the attempt have left it so far. */
export interface Outcome {
  result: ToolResult;
  notes: readonly string[];
  drafts: readonly EventDraft[];
}

/** Returns the recorded form of an `outcome`, with the writes of hooks before its decisions. */
export function settledWith(
  { result, notes, drafts }: Outcome,
  hookWrites: Writes,
): SupervisedResult {
  return {
    result,
    notes,
    writes:
      drafts.length === 0 ? hookWrites : joinedWrites([hookWrites, { drafts, extras: undefined }]),
  };
}
