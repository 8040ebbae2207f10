import type { EventDraft } from '../../../ledger/event.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { AgentPrompts } from '../prompts.ts';

/** Parts of an agent that its compactions need. */
export interface CompactionParts
  extends Pick<AgentParts, 'agent' | 'frame' | 'position' | 'compaction' | 'work'> {
  readonly prompts: AgentPrompts;
  /** Returns the step to a model with a larger window; `undefined` when there is none. */
  readonly largerWindow: () => EventDraft | undefined;
}
