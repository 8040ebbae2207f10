import type { AddCommand } from '../grammar/add-command.ts';
import { type AnswerFlags, answerCommand, answerDetails } from '../grammar/answer-command.ts';

/** Adds `adjutant reject`. */
export const addRejectCommand: AddCommand = (program, parts) => {
  answerCommand(program, 'reject', 'do not let a call be made, and continue its run').action(
    async (id: string, { reason, by, ...options }: AnswerFlags) => {
      const { answerRequest } = await import('../actions/answer.ts');
      const answer = { decision: 'reject', ...answerDetails({ reason, by }) } as const;
      parts.onExitCode(await answerRequest({ ...parts, options }, id, answer));
    },
  );
};
