import type { ModelInput } from '../../models/model.ts';
import { simulatedUser } from '../../testing/users/simulated-user.ts';
import type { User, UserAnswer, UserQuestion, UserTurn } from '../../testing/users/user.ts';
import type { EvalApproval, EvalCase } from '../dataset/eval-case.ts';
import { UserModelMissingError } from './errors.ts';

/** Who talks to the agent in a trial: the turns of the case, or a model that follows its plan. @throws UserModelMissingError */
export function userOf(evalCase: EvalCase, userModel: ModelInput | undefined): User {
  const { scenario, turns, approvals } = evalCase;
  const written: User = {
    ids: ['eval'],
    message: ({ index }: UserTurn) => turns[index]?.user,
    answer: (question: UserQuestion) => answerOf(approvals, question),
  };
  if (scenario === undefined) return written;
  if (userModel === undefined) throw new UserModelMissingError({ case: evalCase.id });
  return simulatedUser({ ...scenario, id: 'eval', model: userModel, ...(approvals.length === 0 ? {} : { answers: written }) });
}

const approving: ReadonlySet<string> = new Set(['approval', 'repeat', 'recovery', 'limit']);

/** The first answer of the case that is for this tool and of this kind; `undefined`: it stays open. */
function answerOf(approvals: readonly EvalApproval[], { toolName, kind, options }: UserQuestion): UserAnswer | undefined {
  const fitting = approvals.find(({ tool, decision }) => {
    if (tool !== undefined && tool !== toolName) return false;
    return decision === 'answer' ? !approving.has(kind) : approving.has(kind) && options.includes(decision);
  });
  if (fitting === undefined) return undefined;
  const { decision, input, reason } = fitting;
  return { decision, ...(input === undefined ? {} : { input }), ...(reason === undefined ? {} : { reason }) };
}

/** A user who leaves when the eval is stopped: what is thrown leaves the session as it is. */
export function leavingUser(user: User, signal: AbortSignal): User {
  const orLeave = <Value>(said: () => Value | Promise<Value>): Promise<Value> => untilStopped(signal, said);
  return {
    ...user,
    message: (turn) => orLeave(() => user.message(turn)),
    answer: (question) => orLeave(() => user.answer(question)),
  };
}

/** What comes of `work`, unless `signal` is aborted before; then it rejects with the signal's reason. */
export async function untilStopped<Value>(signal: AbortSignal, work: () => Value | Promise<Value>): Promise<Value> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
