import type { Host } from '../host/host.ts';
import { ownName } from '../host/own-name.ts';

const tour = `Adjutant runs an agent on a goal. Everything it does is an entry in a ledger that \
lasts: a run that was stopped or killed goes on where it was.

  adjutant "Add up the unpaid invoices in invoices.csv and tell me 15% of the total"
  adjutant chat                 a conversation, line by line
  adjutant sessions             what has been run
  adjutant show                 what was done in the last session (--events, --tree, --at 12, \
--prompt 1)
  adjutant resume [session]     continues a run that was stopped or killed
  adjutant approvals            what runs wait for (--ask-before <tool> makes a run ask); \
approve, reject and edit answer
  adjutant --help               all commands and options

The agent can read, list and search files below the present folder, query CSV files, calculate, \
tell the time and fetch web pages.
Its model is the one of --model or ADJUTANT_MODEL, else of OPENAI_API_KEY, GEMINI_API_KEY or \
ANTHROPIC_API_KEY;
without any of them a small rehearsal model answers, which understands requests like the one above.
`;

/** Shows an overview of the program, when it starts without arguments and without a terminal. */
export function showTour(host: Host): number {
  host.stdout.write(tour.replaceAll(/^ {2}adjutant(?= )/gm, `  ${ownName().join(' ')}`));
  return 0;
}
