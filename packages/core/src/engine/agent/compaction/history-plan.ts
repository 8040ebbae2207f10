import { type CompactionPlan, planCompaction } from '../../../context/compaction-plan.ts';
import { eventSize } from '../../../context/event-size.ts';
import type { History } from '../../../context/history.ts';
import type { CompactionParts } from './compaction-parts.ts';

/**
 * Plans a compaction of the history of an agent.
 * @param before `seq` from which events are left as they are
 * @returns `undefined` when nothing would leave the prompt
 */
export function planHistory(
  { frame, prompts }: CompactionParts,
  history: History,
  request: { readonly keep: number; readonly room: number; readonly overlap: number },
  before = Number.POSITIVE_INFINITY,
): CompactionPlan | undefined {
  const { resolve, invocations } = frame.run.ledger;
  const { path } = frame.record;
  return planCompaction({
    ...request,
    events: history.events().filter(({ seq }) => seq < before),
    path,
    began: invocations.byPath.get(path.split('/')[0] ?? path)?.start.seq ?? 0,
    seen: prompts.gauge.seen,
    isCovered: (event) => history.isCovered(event),
    sizeOf: (event) => eventSize(event, history.resultLimit, resolve),
  });
}
