import { findJsonDefect } from '../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isFlag,
  isNonEmptyText,
  isOneOf,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { NotJsonError } from '../../ledger/errors.ts';
import { isLane } from '../../ledger/folds/lanes.ts';
import type { Resolution } from '../../session/answer.ts';
import { type AnySession, Session } from '../../session/session.ts';
import { isListOfGrants } from '../../supervision/permission.ts';
import { InvalidRunError } from '../frame/errors.ts';
import { isOutsider } from '../frame/outsider.ts';
import type {
  CancelOptions,
  ControlOptions,
  InterruptOptions,
  PauseOptions,
  SendOptions,
} from '../run/advance.ts';
import type { ReopenOptions } from '../run/reopen.ts';
import { assertNotReserved } from '../services/errors.ts';

const controlChecks: OptionChecks<ControlOptions> = { by: isOutsider, reason: isText };
const pauseChecks: OptionChecks<PauseOptions> = { ...controlChecks, lane: isLane };
const interruptChecks: OptionChecks<InterruptOptions> = {
  ...pauseChecks,
  next: isOneOf('pause', 'continue'),
};
const cancelChecks: OptionChecks<CancelOptions> = { ...pauseChecks, runId: isNonEmptyText };
const sendChecks: OptionChecks<SendOptions> = {
  by: isOutsider,
  invocationId: isNonEmptyText,
  interrupt: isFlag,
  clientKey: isNonEmptyText,
  lane: isLane,
};
const reopenChecks: OptionChecks<ReopenOptions> = {
  path: isNonEmptyText,
  lane: isLane,
  reason: isNonEmptyText,
  by: isOutsider,
};
const resolutionChecks: OptionChecks<Resolution> = {
  happened: isFlag,
  result: isAnything,
  failed: isNonEmptyText,
  by: isOutsider,
};

/**
 * Returns the id of the session that a command is for.
 * @throws InvalidRunError
 */
export function sessionIdOf(session: AnySession | string): string {
  if (session instanceof Session) return session.id;
  if (isNonEmptyText(session) === undefined) {
    assertNotReserved(session);
    return session as string;
  }
  throw new InvalidRunError({
    refused: 'This cannot be done',
    reason: `a session or the id of one is needed, not ${describeValue(session)}`,
  });
}

/** Checks the options of a cancellation. @throws InvalidRunError */
export function checkCancel(options: CancelOptions): void {
  check('The session cannot be cancelled', options, cancelChecks);
}

/** Checks the options of a pause. @throws InvalidRunError */
export function checkPause(options: PauseOptions): void {
  check('The session cannot be paused', options, pauseChecks);
}

/** Checks the options of an interruption. @throws InvalidRunError */
export function checkInterrupt(options: InterruptOptions): void {
  check('The session cannot be interrupted', options, interruptChecks);
}

/** Checks permissions and the options of a change of grants. @throws InvalidRunError */
export function checkGrant(permissions: unknown, options: ControlOptions): void {
  const refused = 'The permissions cannot be changed';
  const expected =
    isListOfGrants(permissions) ??
    ((permissions as readonly string[]).length === 0 ? 'a list that is not empty' : undefined);
  if (expected !== undefined)
    throw new InvalidRunError({
      refused,
      reason: `what is granted must be ${expected}, not ${describeValue(permissions)}`,
    });
  check(refused, options, controlChecks);
}

/** Checks the text and the options of a message. @throws InvalidRunError */
export function checkMessage(text: unknown, options: SendOptions): void {
  const refused = 'The message cannot be sent';
  if (isText(text) !== undefined)
    throw new InvalidRunError({
      refused,
      reason: `the text must be a string, not ${describeValue(text)}`,
    });
  check(refused, options, sendChecks);
}

/** Checks the options of `reopen`. @throws InvalidRunError */
export function checkReopenOptions(options: ReopenOptions | undefined): void {
  const refused = 'The session cannot be reopened';
  if (options !== undefined) check(refused, options, reopenChecks);
  if (options?.reason === undefined)
    throw new InvalidRunError({
      refused,
      reason: '`reason` is missing, and the ledger says why: reopen(session, { reason })',
    });
}

/**
 * Checks the arguments of `resolveUnknown`.
 * @throws InvalidRunError, NotJsonError
 */
export function checkResolution(callId: unknown, found: Partial<Resolution>): void {
  const refused = 'The outcome of the call cannot be told';
  if (isNonEmptyText(callId) !== undefined)
    throw new InvalidRunError({
      refused,
      reason: `the id of the call must be a string, not ${describeValue(callId)}`,
    });
  check(refused, found, resolutionChecks);
  if (found.happened === undefined)
    throw new InvalidRunError({ refused, reason: '`happened` is missing' });
  const { happened, result, failed } = found;
  if (happened && failed !== undefined)
    throw new InvalidRunError({ refused, reason: '`failed` is for what did not happen' });
  if (!happened && result !== undefined)
    throw new InvalidRunError({ refused, reason: '`result` is for what happened' });
  const defect = result === undefined ? undefined : findJsonDefect(result);
  if (defect !== undefined)
    throw new NotJsonError({ what: `The result of call "${callId}"`, ...defect });
}

function check<Options>(refused: string, options: unknown, checks: OptionChecks<Options>): void {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined) throw new InvalidRunError({ refused, reason: invalid.reason });
}
