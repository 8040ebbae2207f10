import type { AddCommand } from '../grammar/add-command.ts';
import { type AnswerFlags, answerCommand, answerDetails } from '../grammar/answer-command.ts';

/** Adds `adjutant approve`. */
export const addApproveCommand: AddCommand = (program, parts) => {
  answerCommand(program, 'approve', 'let a call be made, and continue its run').action(
    async (id: string, { reason, by, ...options }: AnswerFlags) => {
      const { answerRequest } = await import('../actions/answer.ts');
      const answer = { decision: 'approve', ...answerDetails({ reason, by }) } as const;
      parts.onExitCode(await answerRequest({ ...parts, options }, id, answer));
    },
  );
};
