import { defined } from '../../base/defined.ts';
import { type ErrorRecord, toErrorRecord } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { inputOf } from '../../engine/invoke/input-contract.ts';
import type { InvocationInput, PlannedSubtask } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isSuccess } from '../../ledger/tool-result.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';
import { validateArgs } from '../../tools/validate.ts';
import { shown } from './planner-message.ts';
import { resolveReferences } from './references.ts';
import { toolAgent } from './tool-agent.ts';

/** Definitions that do subtasks. */
export interface Doers {
  readonly name: string;
  readonly workers: readonly Runnable[];
  readonly tools: readonly Tool[];
}

/** A subtask that can be started, or the reason why it cannot. */
export type SubtaskWork =
  | { readonly runnable: Runnable; readonly input: InvocationInput | undefined }
  | { readonly failure: ErrorRecord };

/** Results that a subtask may use. */
export interface Results {
  /** Output of a subtask by its id; `undefined` when it has none. */
  readonly outputOf: (id: string) => JsonValue | undefined;
}

/** Returns the work of a subtask, with its arguments resolved and checked. */
export async function workOf(
  plan: Doers,
  subtask: PlannedSubtask,
  { outputOf }: Results,
): Promise<SubtaskWork> {
  const resolved = resolveReferences(subtask.args ?? {}, outputOf);
  if ('unresolved' in resolved)
    return failed({
      code: 'unresolved_reference',
      message: `The reference "${resolved.unresolved}" names a result that is not there.`,
    });
  const tool = plan.tools.find(({ name }) => name === subtask.tool);
  if (tool !== undefined) return callOf(plan, { subtask, tool, args: resolved.args });
  const runnable = workerOf(plan, subtask);
  if (runnable === undefined)
    return failed({
      code: 'unknown_worker',
      message: `There is no worker "${subtask.worker ?? subtask.tool}".`,
    });
  const data = subtask.args === undefined ? undefined : resolved.args;
  try {
    return { runnable, input: await inputFor(runnable, { subtask, data, outputOf }) };
  } catch (error) {
    return { failure: toErrorRecord(error) };
  }
}

/**
 * Returns the work of a subtask that has begun: its recorded input stays, whatever the plan and its
 * results are now.
 */
export function begunWork(
  plan: Doers,
  subtask: PlannedSubtask,
  begun: InvocationRecord,
  ledger: Ledger,
): { readonly runnable: Runnable | undefined; readonly input: InvocationInput | undefined } {
  const input = ledger.resolve(begun.input) as InvocationInput | undefined;
  const tool = plan.tools.find(({ name }) => name === subtask.tool);
  const runnable =
    tool === undefined
      ? workerOf(plan, subtask)
      : toolAgent(plan.name, tool, input?.data as JsonObject | undefined);
  return { runnable, input };
}

function workerOf(
  { workers }: Doers,
  { worker, tool, budget }: PlannedSubtask,
): Runnable | undefined {
  const found =
    worker === undefined
      ? tool === undefined
        ? workers[0]
        : undefined
      : workers.find(({ name }) => name === worker);
  // Tokens and costs are counted by the run, which reads the budget from the ledger.
  return found?.kind === 'agent' && budget?.rounds !== undefined
    ? withRounds(found as Agent, budget.rounds)
    : found;
}

/** The same agent with at most so many rounds. */
function withRounds(worker: Agent, most: number): Agent {
  const rounds = Math.min(worker.limits.rounds, most);
  return Object.freeze({ ...worker, limits: { ...worker.limits, rounds } });
}

async function callOf(
  plan: Doers,
  { subtask, tool, args }: { subtask: PlannedSubtask; tool: Tool; args: JsonObject },
): Promise<SubtaskWork> {
  const checked = await validateArgs(tool, args);
  if (!checked.ok) return failed({ code: 'invalid_input', message: checked.message });
  const input = { message: subtask.description, data: args };
  return { runnable: toolAgent(plan.name, tool, args), input };
}

/** An agent without `input` reads its arguments; other runnables get them as data. */
function inputFor(
  runnable: Runnable,
  { subtask, data, outputOf }: { subtask: PlannedSubtask; data: JsonObject | undefined } & Results,
): InvocationInput | undefined | Promise<InvocationInput | undefined> {
  const isReader = runnable.kind === 'agent' && (runnable as Agent).input === undefined;
  const message = messageOf(subtask, isReader ? data : undefined, outputOf);
  return inputOf(runnable, { message, ...defined({ data: isReader ? undefined : data }) });
}

function messageOf(
  { description, expectedOutput, dependsOn }: PlannedSubtask,
  args: JsonObject | undefined,
  outputOf: Results['outputOf'],
): string {
  const parts = [description];
  if (expectedOutput !== undefined) parts.push(`Expected output: ${expectedOutput}`);
  if (args !== undefined) parts.push(`Input: ${shown(args)}`);
  const results = dependsOn.flatMap((id) => {
    const output = outputOf(id);
    return output === undefined ? [] : `- ${id}: ${shown(output)}`;
  });
  if (results.length > 0) parts.push(`Results of the subtasks before it:\n${results.join('\n')}`);
  return parts.join('\n\n');
}

function failed(error: Pick<ErrorRecord, 'code' | 'message'>): { readonly failure: ErrorRecord } {
  return { failure: { name: 'SubtaskError', ...error } };
}

/** Returns the error of a subtask that did not complete: of a call that of its result. */
export function failureOf(
  record: InvocationRecord,
  { tool }: Pick<PlannedSubtask, 'tool'>,
): ErrorRecord {
  const last = record.events.findLast((event) => event.type === 'tool_result' && event.settled);
  if (tool !== undefined && last?.type === 'tool_result' && !isSuccess(last.result)) {
    const { status, errorType, content } = last.result;
    const message = typeof content === 'string' ? content : JSON.stringify(content);
    return { name: 'ToolError', code: errorType ?? status, message };
  }
  return (
    record.error ?? {
      name: 'SubtaskError',
      code: record.status,
      message: `"${record.path}" ended as ${record.status}.`,
    }
  );
}

/** Codes of failures that another attempt would meet again, or must not be made without people. */
const lasting: ReadonlySet<string> = new Set([
  ...['unresolved_reference', 'unknown_worker', 'invalid_input', 'validation_error'],
  ...['rejected', 'question_rejected', 'expired', 'cancelled', 'unknown', 'effect_unknown'],
  ...['round_limit', 'token_limit', 'cost_limit', 'error_limit', 'plan_failed', 'plan_invalid'],
]);

export function isLasting({ code }: ErrorRecord): boolean {
  return lasting.has(code);
}
