import { defined } from 'adjutant/text';
import type { Command } from 'commander';
import type { AnswerOptions } from '../actions/answer.ts';
import { agentCommand, withServer } from './option-groups.ts';
import { notEmpty } from './option-values.ts';

export interface AnswerFlags extends AnswerOptions {
  readonly reason?: string;
  readonly by?: string;
}

/** Adds a command that answers a request and continues its run. */
export function answerCommand(program: Command, name: string, description: string): Command {
  return withServer(agentCommand(program, name, description))
    .argument('<request>', 'id of the request, as adjutant approvals lists it', notEmpty)
    .option('--reason <text>', 'why; the model is told', notEmpty)
    .option(
      '--by <id>',
      'who answers, where only some may (default: a user without a name)',
      notEmpty,
    )
    .option('--no-continue', 'only leave the answer; do not continue the run')
    .option('--json', 'print every event as a line of JSON, then the result');
}

/** Returns the part of an answer that the flags give: its reason and its author. */
export function answerDetails({
  reason,
  by,
}: {
  readonly reason: string | undefined;
  readonly by: string | undefined;
}): Pick<AnswerFlags, 'reason' | 'by'> {
  return defined({ reason, by });
}
