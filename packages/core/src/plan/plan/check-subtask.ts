import { findJsonDefect, isPlainObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { describeValue } from '../../base/options.ts';
import type { Subtask, SubtaskBudget } from '../../ledger/event.ts';
import { deepestArgs, referencesIn } from './references.ts';
import type { CheckedSubtask } from './revision.ts';

/** Names that subtasks may use. */
export interface PlanNames {
  readonly workers: readonly string[];
  /** Workers that are agents: only these have budgets. */
  readonly agents: readonly string[];
  readonly tools: readonly string[];
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const longestText = 4_000;
const longestArgs = 100_000;

const members: Readonly<Record<keyof Subtask, string>> = {
  id: '',
  description: '',
  dependsOn: '',
  worker: '',
  tool: '',
  args: '',
  expectedOutput: '',
  critical: '',
  budget: '',
};
const memberNames = Object.keys(members);

/** Problems that a planner is told of, each in one sentence. */
export type Tell = (problem: string) => void;

/** Returns the subtask that a planner has given, if it is one; what is wrong is told. */
export function checkSubtask(
  given: unknown,
  place: string,
  names: PlanNames,
  tell: Tell,
): CheckedSubtask | undefined {
  if (!isPlainObject(given)) {
    tell(`${place} must be an object with id and description, not ${describeValue(given)}`);
    return undefined;
  }
  const id = given['id'];
  if (typeof id !== 'string' || !idPattern.test(id)) {
    tell(`${place}.id must be 1 to 64 letters, digits, _ and -, not ${describeValue(id)}`);
    return undefined;
  }
  let isWhole = true;
  const say: Tell = (problem) => {
    isWhole = false;
    tell(`subtask "${id}": ${problem}`);
  };
  checkMembers(given, say);
  checkTexts(given, say);
  checkDoer(given, names, say);
  checkBudget(given, names, say);
  const references = checkArgs(given['args'], say);
  const dependsOn = checkDependsOn(given['dependsOn'], say);
  if (!isWhole) return undefined;
  return {
    ...(given as unknown as Subtask),
    dependsOn: [...new Set([...dependsOn, ...references])],
  };
}

function checkMembers(given: Readonly<Record<string, unknown>>, say: Tell): void {
  for (const [name, value] of Object.entries(given)) {
    if (memberNames.includes(name) && value !== undefined && value !== null) continue;
    if (memberNames.includes(name)) {
      say(`${name} must be left out rather than ${String(value)}`);
      continue;
    }
    const meant = nearestName(name, memberNames) ?? (name === 'dependencies' ? 'dependsOn' : '');
    const hint = meant === '' ? `the members are ${memberNames.join(', ')}` : `use ${meant}`;
    say(`there is no member ${JSON.stringify(name.slice(0, 60))}; ${hint}`);
  }
}

function checkTexts(given: Readonly<Record<string, unknown>>, say: Tell): void {
  const { description, expectedOutput, critical } = given;
  const isText = (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= longestText;
  if (!isText(description)) say(`description must be a text of 1 to ${longestText} characters`);
  if (expectedOutput !== undefined && !isText(expectedOutput))
    say(`expectedOutput must be a text of 1 to ${longestText} characters`);
  if (critical !== undefined && typeof critical !== 'boolean')
    say('critical must be true or false');
}

function checkDoer(
  { worker, tool }: Readonly<Record<string, unknown>>,
  names: PlanNames,
  say: Tell,
) {
  if (worker !== undefined && tool !== undefined)
    say('it has a worker and a tool; one of them does it');
  if (worker !== undefined) checkName('worker', worker, names.workers, say);
  if (tool !== undefined) checkName('tool', tool, names.tools, say);
  if (worker === undefined && tool === undefined && names.workers.length === 0)
    say(`it needs a tool (${names.tools.join(', ')}): there are no workers`);
}

function checkName(
  kind: 'worker' | 'tool',
  name: unknown,
  known: readonly string[],
  say: Tell,
): void {
  if (typeof name === 'string' && known.includes(name)) return;
  const there = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  say(`there is no ${kind} ${describeValue(name)}; ${there}`);
}

const budgetNames: readonly (keyof SubtaskBudget)[] = ['rounds', 'tokens', 'cost'];

function checkBudget(
  { budget, worker, tool }: Readonly<Record<string, unknown>>,
  { agents, workers }: PlanNames,
  say: Tell,
): void {
  if (budget === undefined) return;
  const fits =
    isPlainObject(budget) &&
    Object.entries(budget).every(
      ([name, value]) =>
        budgetNames.some((one) => one === name) && typeof value === 'number' && value > 0,
    ) &&
    (budget['rounds'] === undefined || Number.isInteger(budget['rounds']));
  if (!fits) say('budget may have rounds, tokens and cost, each a number above 0');
  const doer = tool === undefined ? (worker ?? workers[0]) : undefined;
  if (!agents.some((name) => name === doer)) say('only a subtask of an agent has a budget');
}

/** Returns the ids that the references in arguments name. */
function checkArgs(args: unknown, say: Tell): readonly string[] {
  if (args === undefined) return [];
  if (!isPlainObject(args)) {
    say(`args must be an object, not ${describeValue(args)}`);
    return [];
  }
  if (depthOf(args) > deepestArgs) {
    say(`args must not be nested deeper than ${deepestArgs} levels`);
    return [];
  }
  const defect = findJsonDefect(args);
  if (defect !== undefined || JSON.stringify(args).length > longestArgs) {
    say(`args must be JSON of at most ${longestArgs} characters`);
    return [];
  }
  const { references, malformed } = referencesIn(args as JsonObject);
  for (const place of malformed)
    say(
      `${place} must be { "$from": "<id of a subtask>.output.<member>" } and nothing else; ` +
        'to pass a whole output, leave the members out',
    );
  return references.map(({ id }) => id);
}

function depthOf(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null || level > deepestArgs) return level;
  let deepest = level + 1;
  for (const part of Object.values(value as JsonValue & object))
    deepest = Math.max(deepest, depthOf(part, level + 1));
  return deepest;
}

function checkDependsOn(dependsOn: unknown, say: Tell): readonly string[] {
  if (dependsOn === undefined) return [];
  const fits = Array.isArray(dependsOn) && dependsOn.every((one) => typeof one === 'string');
  if (fits && dependsOn.length <= 1_000) return dependsOn as readonly string[];
  say('dependsOn must be a list of ids of subtasks');
  return [];
}
