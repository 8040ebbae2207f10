import type { JsonValue } from '../../../base/json.ts';
import type { PendingRequest } from '../../../session/pending-request.ts';
import { inShort } from './describe-step.ts';
import type { AnswerChoice, TestStep } from './steps.ts';

/** Returns the calls that an `answer` step may be about, of those that wait. */
export function answerableCalls(
  pending: readonly PendingRequest[],
  { decision, choice }: Extract<TestStep, { kind: 'answer' }>,
): readonly PendingRequest[] {
  return pending.filter(
    ({ name, args, request }) =>
      (choice.tool === undefined || name === choice.tool) &&
      request.options.includes(decision) &&
      hasArgs(args, choice.args),
  );
}

function hasArgs(args: JsonValue, wantedArgs: AnswerChoice['args']): boolean {
  if (wantedArgs === undefined) return true;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  return Object.entries(wantedArgs).every(
    ([key, value]) =>
      JSON.stringify((args as Record<string, JsonValue>)[key]) === JSON.stringify(value),
  );
}

/** Describes the call that a choice asks for. */
export function choiceText({ tool, args }: AnswerChoice): string {
  const what = tool === undefined ? 'a call' : `a call of ${tool}`;
  return args === undefined ? what : `${what} with ${inShort(args)}`;
}
