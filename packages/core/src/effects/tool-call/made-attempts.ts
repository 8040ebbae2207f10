import type { CallState } from '../../loop/call-state.ts';

/** Returns the attempts that were made with the tool in use. */
export function attemptsOf({ attempts, fallback }: CallState): CallState['attempts'] {
  return fallback === undefined ? attempts : attempts.filter(({ tool }) => tool === fallback);
}
