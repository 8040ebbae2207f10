import type { SubtaskBudget } from '../events/plan-events.ts';
import { lastPartOf, slotOf } from '../path.ts';
import type { InvocationRecord, InvocationTree } from './invocation-fold.ts';

/** Key of the subtask that an invocation below a plan is an attempt of. */
function subtaskKeyOf(path: string): string {
  const key = lastPartOf(slotOf(path));
  const end = key.indexOf('#');
  return end < 0 ? key : key.slice(0, end);
}

/** Returns the budget of an invocation that does a subtask of a plan, as the revision gives it. */
export function subtaskBudget(
  tree: InvocationTree,
  { path, parent }: Pick<InvocationRecord, 'path' | 'parent'>,
): SubtaskBudget | undefined {
  const plan = tree.byPath.get(parent ?? '');
  if (plan?.kind !== 'plan') return undefined;
  const key = subtaskKeyOf(path);
  const revision = plan.events.findLast((event) => event.type === 'plan');
  return revision?.type === 'plan'
    ? revision.subtasks.find((one) => one.key === key)?.budget
    : undefined;
}
