import type { AddCommand } from '../grammar/add-command.ts';
import { type AnswerFlags, answerCommand, answerDetails } from '../grammar/answer-command.ts';
import { extentOf, type StandingExtent } from '../grammar/standing-extent.ts';

interface ApproveFlags extends AnswerFlags {
  readonly always?: StandingExtent;
}

/** Adds `adjutant approve`. */
export const addApproveCommand: AddCommand = (program, parts) => {
  answerCommand(program, 'approve', 'let a call be made, and continue its run')
    .option(
      '--always <which>',
      'allow later calls of the tool in this session, too: call (equal ones), tool (all) or ' +
        'below:<folder>',
      extentOf,
    )
    .action(async (id: string, { always, reason, by, ...options }: ApproveFlags) => {
      const { answerRequest } = await import('../actions/answer.ts');
      const stands = always === undefined ? {} : { always };
      const answer = { decision: 'approve', ...stands, ...answerDetails({ reason, by }) } as const;
      parts.onExitCode(await answerRequest({ ...parts, options }, id, answer));
    });
};
