import { isPlainObject } from '../../base/json.ts';
import { describeValue } from '../../base/options.ts';
import type { PlannedSubtask } from '../../ledger/event.ts';
import type { Tool } from '../../tools/tool.ts';
import { validateArgs } from '../../tools/validate.ts';
import { checkSubtask, type PlanNames } from './check-subtask.ts';
import { circleIn } from './dag.ts';
import type { Plan } from './definition.ts';
import type { PlanLimits } from './plan-options.ts';
import { referencesIn } from './references.ts';
import type { CheckedSubtask } from './revision.ts';

/** Names and limits that subtasks are checked against. */
export interface PlanRules {
  readonly names: PlanNames;
  readonly tools: readonly Tool[];
  readonly limits: Pick<PlanLimits, 'subtasks' | 'tokens' | 'cost'>;
}

/** Position of a plan that a revision is checked against. */
export interface PlanBefore {
  readonly subtasks: readonly PlannedSubtask[];
  /** Keys of completed subtasks. */
  readonly finished: ReadonlySet<string>;
}

/** Subtasks that can be carried out, or everything that is wrong with them, for their author. */
export type PlanCheck =
  | { readonly subtasks: readonly CheckedSubtask[] }
  | { readonly problems: readonly string[] };

/** Most problems that an author is told of at a time. */
const mostProblems = 20;

/**
 * Checks what a planner or a person has given: a list of subtasks, or an object with it. Finished
 * subtasks that it does not name stay, and others may depend on them.
 */
export async function checkPlan(
  given: unknown,
  rules: PlanRules,
  before: PlanBefore,
): Promise<PlanCheck> {
  const list = isPlainObject(given) ? given['subtasks'] : given;
  if (!Array.isArray(list))
    return {
      problems: [`it must be a list of subtasks, not ${describeValue(given)}`],
    };
  const stays = before.subtasks.filter(
    ({ id, key }) => before.finished.has(key) && !list.some((one) => one?.id === id),
  );
  const count = list.length + stays.length;
  if (list.length === 0 && stays.length === 0)
    return { problems: ['it has no subtasks, and needs at least one'] };
  if (count > rules.limits.subtasks)
    return {
      problems: [
        `it has ${count} subtasks, and ${rules.limits.subtasks} are allowed: ` +
          'join neighbours that belong together',
      ],
    };
  return checkList(list, stays, rules);
}

async function checkList(
  list: readonly unknown[],
  stays: readonly PlannedSubtask[],
  rules: PlanRules,
): Promise<PlanCheck> {
  const problems: string[] = [];
  const tell = (problem: string): void => void problems.push(problem);
  const checked = list.map((one, i) => checkSubtask(one, `subtasks[${i}]`, rules.names, tell));
  const subtasks = checked.filter((one) => one !== undefined);
  const ids = new Set([
    ...stays.map(({ id }) => id),
    ...list.flatMap((one) => (isPlainObject(one) ? String(one['id']) : [])),
  ]);
  checkIds(subtasks, ids, tell);
  // Subtasks that were refused hide circles.
  if (problems.length === 0) {
    const circle = circleIn(subtasks);
    if (circle !== undefined)
      tell(`the subtasks ${circle.join(' → ')} depend on each other in a circle: leave one out`);
  }
  checkSums(subtasks, rules, tell);
  for (const subtask of subtasks) await checkToolArgs(subtask, rules.tools, tell);
  if (problems.length === 0) return { subtasks };
  const more = problems.length - mostProblems;
  return {
    problems:
      more > 0 ? [...problems.slice(0, mostProblems), `and ${more} more like these`] : problems,
  };
}

function checkIds(
  subtasks: readonly CheckedSubtask[],
  ids: ReadonlySet<string>,
  tell: (problem: string) => void,
): void {
  const seen = new Set<string>();
  for (const { id, dependsOn } of subtasks) {
    if (seen.has(id)) tell(`the id "${id}" is given twice`);
    seen.add(id);
    for (const before of dependsOn) {
      if (before === id) tell(`subtask "${id}" depends on itself`);
      else if (!ids.has(before))
        tell(`subtask "${id}" depends on "${before.slice(0, 70)}", and there is no such subtask`);
    }
  }
}

function checkSums(
  subtasks: readonly CheckedSubtask[],
  { limits }: PlanRules,
  tell: (problem: string) => void,
): void {
  for (const name of ['tokens', 'cost'] as const) {
    const limit = limits[name];
    const sum = subtasks.reduce((total, { budget }) => total + (budget?.[name] ?? 0), 0);
    if (limit !== undefined && sum > limit)
      tell(`the budgets of ${name} add up to ${sum}, and the plan has ${limit}`);
  }
}

/** Arguments without references can be checked at once; others are when they are resolved. */
async function checkToolArgs(
  { id, tool: name, args = {} }: CheckedSubtask,
  tools: readonly Tool[],
  tell: (problem: string) => void,
): Promise<void> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined || referencesIn(args).references.length > 0) return;
  const checked = await validateArgs(tool, args);
  if (!checked.ok) tell(`subtask "${id}": the args do not fit ${tool.name}. ${checked.message}`);
}

/** Returns the rules for the subtasks of a plan. */
export function rulesOf({ workers, tools, limits }: Plan<unknown>): PlanRules {
  return {
    names: {
      workers: workers.map(({ name }) => name),
      agents: workers.flatMap(({ kind, name }) => (kind === 'agent' ? name : [])),
      tools: tools.map(({ name }) => name),
    },
    tools,
    limits,
  };
}
