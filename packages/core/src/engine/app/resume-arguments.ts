import { isRunnable, type Runnable } from '../../session/runnable.ts';
import type { AnySession } from '../../session/session.ts';
import { InvalidRunError } from '../frame/errors.ts';
import { checkedRunOptions, type RunOptions } from '../frame/run-options.ts';
import { sessionIdOf } from './control-options.ts';

/** Options of a run that is resumed: it has a session and its input already. */
export type ResumeOptions = Omit<RunOptions, 'session' | 'input' | 'data' | 'model'>;

/** The arguments of `resume`, in one form. */
export interface ResumeArguments {
  /** The runnable that the run is of, if the caller names it. */
  readonly continues: Runnable | undefined;
  readonly options: RunOptions;
}

/**
 * Returns the arguments of `resume(runnable, session, options)` or `resume(session, options)`.
 * @throws InvalidRunError
 */
export function resumeArguments(given: readonly unknown[]): ResumeArguments {
  const [first, second] = given;
  if (!isRunnable(first) && isRunnable(second))
    throw new InvalidRunError({
      refused: 'The run cannot be resumed',
      reason: 'the runnable comes before the session: resume(runnable, session)',
    });
  const continues = isRunnable(first) ? first : undefined;
  const [session, options = {}] = continues === undefined ? given : given.slice(1);
  sessionIdOf(session as AnySession | string);
  return {
    continues,
    options: checkedRunOptions({ ...(options as ResumeOptions), session: session as AnySession }),
  };
}
