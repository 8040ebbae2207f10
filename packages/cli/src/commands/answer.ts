import { Option } from 'commander';
import type { AddCommand } from '../grammar/add-command.ts';
import { type AnswerFlags, answerCommand, answerDetails } from '../grammar/answer-command.ts';

const decisions = ['answer', 'succeeded', 'retry', 'report', 'continue'] as const;

interface DecisionFlags extends AnswerFlags {
  readonly decision: (typeof decisions)[number];
}

/** Adds `adjutant answer`. */
export const addAnswerCommand: AddCommand = (program, parts) => {
  answerCommand(
    program,
    'answer',
    'give what a run waits for: input, a result, what became of a call; and continue the run',
  )
    .argument('[value]', 'the input or the result: JSON, or a text where texts are taken')
    .addOption(
      new Option('--decision <decision>', 'one of the options of the request')
        .choices(decisions)
        .default('answer'),
    )
    .action(async (id: string, value: string | undefined, flags: DecisionFlags) => {
      const { reason, by, decision, ...options } = flags;
      const { answerRequest } = await import('../actions/answer.ts');
      const answer = { decision, value, ...answerDetails({ reason, by }) };
      parts.onExitCode(await answerRequest({ ...parts, options }, id, answer));
    });
};
