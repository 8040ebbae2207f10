import { accountOf } from './account.ts';
import { stepText } from './describe-step.ts';
import { doingText } from './describe-work.ts';
import { TestStepError } from './errors.ts';
import type { Rest } from './quiet.ts';
import type { Scene } from './scene.ts';
import type { TestStep } from './steps.ts';

/** The place in a script at which a test failed. */
export interface FailedPlace {
  readonly steps: readonly TestStep[];
  /** Index of the step; the number of steps when all are taken. */
  readonly index: number;
  /** Steps that are done, with the last seq of the ledger before each. */
  readonly done: readonly { readonly text: string; readonly after: number }[];
  readonly scene: Scene;
}

/** A reason for which a step cannot be taken. */
export interface FailureReason {
  /** The rest of a sentence that begins with the step. */
  readonly why: string;
  readonly cause?: unknown;
}

/**
 * Returns an error that says which step failed, what is under way, what has happened and which
 * steps are left.
 */
export function stepFailure(
  { steps, index, done, scene }: FailedPlace,
  { why, cause }: FailureReason,
  { work }: Rest,
): TestStepError {
  const step = steps[index];
  const count = steps.length;
  const all = count === 1 ? 'The step is' : `All ${count} steps are`;
  const what =
    step === undefined ? `${all} taken,` : `Step ${index + 1} of ${count}, ${stepText(step)},`;
  const left = steps
    .slice(index + 1)
    .map((one, offset) => `  step ${index + offset + 2}: ${stepText(one)}`);
  const parts = [
    `${what} ${why.replace(/\.$/, '')}.`,
    `\nAt that moment:\n${doingText(work, scene)}`,
    `\nWhat has happened:\n${accountOf(done, scene.session.events)}`,
    ...(left.length === 0 ? [] : [`\nStill to come:\n${left.join('\n')}`]),
  ];
  return new TestStepError(parts.join('\n'), { step: index + 1, kind: step?.kind ?? 'end' }, cause);
}
