import type { AnswerContext } from '../access/app-access.ts';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import type { GivenAnswer } from './given-value.ts';

export interface AnswerOptions extends ProjectFlags, ServerFlags {
  readonly json?: boolean;
  /** True when the run is continued here after the answer. */
  readonly continue: boolean;
}

/**
 * `adjutant approve|reject|edit|answer <id>`: answers a request, and continues its run unless
 * another process works on it.
 */
export async function answerRequest(
  context: AnswerContext,
  requestId: string,
  answer: GivenAnswer,
): Promise<number> {
  const access = await openAccess(context.host, context.options);
  return access.answer(context, requestId, answer);
}
