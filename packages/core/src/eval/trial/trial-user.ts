import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { simulatedUser } from '../../conversation/simulated-user.ts';
import type { User, UserAnswer, UserQuestion, UserTurn } from '../../conversation/user.ts';
import type { NamedModel } from '../../models/named-model.ts';
import type { EvalApproval, EvalCase } from '../dataset/eval-case.ts';
import { UserModelMissingError } from './errors.ts';

/**
 * Returns the user of a trial: the turns of the case, or a model that follows its plan.
 * @throws UserModelMissingError
 */
export function userOf(evalCase: EvalCase, userModel: NamedModel | undefined): User {
  const { scenario, turns, approvals } = evalCase;
  const written: User = {
    ids: ['eval'],
    message: ({ index }: UserTurn) => turns[index]?.user,
    answer: (question: UserQuestion) => answerOf(approvals, question),
  };
  if (scenario === undefined) return written;
  if (userModel === undefined) throw new UserModelMissingError({ case: evalCase.id });
  return simulatedUser({
    ...scenario,
    id: 'eval',
    model: userModel,
    ...(approvals.length === 0 ? {} : { answers: written }),
  });
}

const approving: ReadonlySet<string> = new Set(['approval', 'repeat', 'recovery', 'limit']);

/**
 * The first answer of the case that is for this tool and of this kind; `undefined`: it stays open.
 */
function answerOf(
  approvals: readonly EvalApproval[],
  { toolName, kind, options }: UserQuestion,
): UserAnswer | undefined {
  const fitting = approvals.find(({ tool, decision }) => {
    if (tool !== undefined && tool !== toolName) return false;
    return decision === 'answer'
      ? !approving.has(kind)
      : approving.has(kind) && options.includes(decision);
  });
  if (fitting === undefined) return undefined;
  const { decision, input, reason } = fitting;
  return defined({ decision, input, reason });
}

/** A user who leaves when the eval is stopped: what is thrown leaves the session as it is. */
export function leavingUser(user: User, stop: AbortSignal, clock: Clock): User {
  const until = <View extends UserTurn | UserQuestion, Said>(
    view: View,
    say: (view: View) => Said | Promise<Said>,
  ): Promise<Said> =>
    untilStopped(stop, clock, () => say({ ...view, signal: AbortSignal.any([view.signal, stop]) }));
  return {
    ...user,
    message: (turn) => until(turn, (view) => user.message(view)),
    answer: (question) => until(question, (view) => user.answer(view)),
  };
}

/** Milliseconds in which what was told to stop may bring itself to an end. */
const graceMs = 2_000;

/**
 * Returns the result of `work`. When `signal` is aborted before, it rejects with the signal's
 * reason, but only after the work has ended. A model call still under way would block the session
 * for the next process.
 */
export async function untilStopped<Value>(
  signal: AbortSignal,
  clock: Clock,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const working = Promise.resolve(work());
  try {
    return await Promise.race([working, stopped]);
  } catch (error) {
    if (signal.aborted) await ended(working, clock);
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function ended(work: Promise<unknown>, clock: Clock): Promise<void> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const cancelTimer = clock.setTimer(graceMs, resolve);
  await Promise.race([work.catch(() => undefined), enough]);
  cancelTimer();
}
