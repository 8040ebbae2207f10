import { longestWaitMs } from '../../base/longest-wait.ts';
import { randomFromSeed } from '../../base/random.ts';
import { retryDelay } from '../../base/retry-options.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Ending } from './attempt/ending.ts';
import { attemptsOf } from './made-attempts.ts';

/**
 * Milliseconds to the next attempt, if the tool itself asks for one and a repetition cannot double
 * an effect. `undefined`: there is none.
 */
export function ownRetryDelay(
  {
    state,
    tool,
    attempt,
  }: { readonly state: CallState; readonly tool: Tool; readonly attempt: number },
  { result, effect, retryAfterMs }: Pick<Ending, 'result' | 'effect' | 'retryAfterMs'>,
): number | undefined {
  const { retry, recovery } = tool;
  // A fallback tool counts from its own first attempt.
  const made = state.fallback === undefined ? attempt : attemptsOf(state).length;
  if (retry === undefined || effect === undefined || made >= retry.attempts) return undefined;
  if (effect === 'unknown' && recovery !== 'rerun') return undefined;
  const mayPass =
    result.status === 'error_transient' ||
    result.status === 'timeout' ||
    result.status === 'unknown' ||
    result.errorType === 'tool_error';
  if (!mayPass) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs > longestWaitMs ? undefined : retryAfterMs;
  return retryDelay(retry, made, () => randomFromSeed(retrySeed(state)));
}

/**
 * Returns the seed of the jitter of the delay after the last attempt of a call. It is made of the
 * recorded key of that attempt, so a replay waits as long as the recorded run.
 */
export function retrySeed({ attempts }: CallState): string {
  return `${attempts.at(-1)?.key}\n${attempts.length}\nretry`;
}
