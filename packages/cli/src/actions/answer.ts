import type { JsonValue, RequestAnswer } from 'adjutant';
import type { AnswerContext } from '../access/app-access.ts';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { AgentOptions } from '../app/app.ts';
import { UsageError } from '../failure.ts';

export interface AnswerOptions extends AgentOptions, ServerFlags {
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
  answer: RequestAnswer,
): Promise<number> {
  const access = await openAccess(context.host, context.options);
  return access.answer(context, requestId, answer);
}

/** Reads a value that was given as JSON on the command line. @throws UsageError */
export function givenJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new UsageError({
      reason:
        `What was given is not JSON: ${(error as Error).message}. Put it in single quotes: ` +
        `'{"name":"value"}', or '"a text"'.`,
    });
  }
}
