import type { AddCommand } from '../grammar/add-command.ts';
import { type AnswerFlags, answerCommand, answerDetails } from '../grammar/answer-command.ts';

/** Adds `adjutant edit`. */
export const addEditCommand: AddCommand = (program, parts) => {
  const description = 'let a call be made with other arguments, and continue its run';
  answerCommand(program, 'edit', description)
    .argument('<arguments>', 'all arguments of the call, as JSON')
    .action(async (id: string, args: string, { reason, by, ...options }: AnswerFlags) => {
      const { answerRequest } = await import('../actions/answer.ts');
      const answer = { decision: 'edit', value: args, ...answerDetails({ reason, by }) } as const;
      parts.onExitCode(await answerRequest({ ...parts, options }, id, answer));
    });
};
