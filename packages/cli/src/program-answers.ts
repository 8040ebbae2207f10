import { type Command, Option } from 'commander';
import type { AnswerOptions } from './commands/answer.ts';
import type { ApprovalsOptions } from './commands/approvals.ts';
import type { Host } from './host.ts';
import type { Interruption } from './interruption.ts';
import { agentCommand, ledgerCommand, withServer } from './program-commands.ts';
import { notEmpty } from './program-values.ts';

interface Parts {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly onExitCode: (code: number) => void;
}

interface AnswerFlags extends AnswerOptions {
  readonly reason?: string;
  readonly by?: string;
}

const decisions = ['answer', 'succeeded', 'retry', 'report', 'continue'] as const;
interface DecisionFlags extends AnswerFlags {
  readonly decision: (typeof decisions)[number];
}

/** Adds the commands for requests that wait for an answer. */
export function addAnswerCommands(program: Command, parts: Parts): void {
  const { host, onExitCode } = parts;
  withServer(
    ledgerCommand(
      program,
      'approvals',
      'list what runs wait for: approvals, and whatever else somebody must answer',
    ),
  )
    .option('--user <id>', 'only those of sessions of this user', notEmpty)
    .option('--json', 'print each request as a line of JSON')
    .action(async (options: ApprovalsOptions) => {
      const { listApprovals } = await import('./commands/approvals.ts');
      onExitCode(await listApprovals(host, options));
    });
  for (const decision of ['approve', 'reject'] as const) {
    const description =
      decision === 'approve'
        ? 'let a call be made, and continue its run'
        : 'do not let a call be made, and continue its run';
    answerCommand(program, decision, description).action(
      async (id: string, { reason, by, ...options }: AnswerFlags) => {
        const { answerRequest } = await import('./commands/answer.ts');
        onExitCode(
          await answerRequest({ ...parts, options }, id, { decision, ...said(reason, by) }),
        );
      },
    );
  }
  answerCommand(program, 'edit', 'let a call be made with other arguments, and continue its run')
    .argument('<arguments>', 'all arguments of the call, as JSON')
    .action(async (id: string, args: string, { reason, by, ...options }: AnswerFlags) => {
      const { answerRequest, givenJson } = await import('./commands/answer.ts');
      onExitCode(
        await answerRequest({ ...parts, options }, id, {
          decision: 'edit',
          input: givenJson(args),
          ...said(reason, by),
        }),
      );
    });
  answerCommand(
    program,
    'answer',
    'give what a run waits for: input, a result, what became of a call; and continue the run',
  )
    .argument('[value]', 'the input or the result, as JSON')
    .addOption(
      new Option('--decision <decision>', 'one of the options of the request')
        .choices(decisions)
        .default('answer'),
    )
    .action(
      async (
        id: string,
        value: string | undefined,
        { reason, by, decision, ...options }: DecisionFlags,
      ) => {
        const { answerRequest, givenJson } = await import('./commands/answer.ts');
        const input = value === undefined ? {} : { input: givenJson(value) };
        onExitCode(
          await answerRequest({ ...parts, options }, id, {
            decision,
            ...input,
            ...said(reason, by),
          }),
        );
      },
    );
}

function answerCommand(program: Command, name: string, description: string): Command {
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

function said(
  reason: string | undefined,
  by: string | undefined,
): { readonly reason?: string; readonly by?: string } {
  return { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
}
