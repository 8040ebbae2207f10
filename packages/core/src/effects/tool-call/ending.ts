import type { ToolEffect, ToolResult } from '../../ledger/tool-result.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { PendingOperation } from '../../tools/request-options.ts';

/** End of an attempt. */
export interface Ending {
  readonly result: ToolResult;
  /** Missing when the tool did its work, also when something failed afterwards. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly next: Runnable | undefined;
  /** Operation elsewhere whose result the call waits for. */
  readonly operation?: PendingOperation;
}
