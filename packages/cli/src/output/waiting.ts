import type { JsonValue, PendingCall, RequestEntry } from 'adjutant';
import { visibleJson } from 'adjutant/text';
import { formatTime } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/** What is needed of a request to say what it asks and how it is answered. */
export interface AskedRequest
  extends Pick<RequestEntry, 'requestId' | 'kind' | 'summary' | 'options'> {
  readonly expiresAt?: number | undefined;
  /** The arguments of the call. */
  readonly args?: JsonValue;
  /** Whether its answer has come, and is taken in when the run goes on. */
  readonly accepted?: boolean;
}

/** What a session waits for. */
export interface Waiting {
  readonly requests: readonly AskedRequest[];
  /** A loop waits for a message. */
  readonly message: boolean;
  readonly session: string;
}

/** Gives a command line, with the options that the present command was started with. */
export type CommandText = (...words: string[]) => string;

const asks: Readonly<Record<AskedRequest['kind'], string>> = {
  approval: 'asks for approval',
  input: 'asks for an answer',
  result: 'waits for a result',
  recovery: 'asks what became of a call',
  repeat: 'asks whether to repeat a call that may have taken effect',
  limit: 'asks whether to go beyond a limit',
};

/** What a session waits for, and the commands that answer. */
export function waitingLines(
  style: Style,
  { requests, message, session }: Waiting,
  command: CommandText,
): string[] {
  const lines = requests.flatMap((request) => [
    `${style.yellow('?')} ${asks[request.kind]}: ` +
      `${style.bold(plainLine(request.summary))}${untilText(request.expiresAt)}`,
    ...(request.accepted === true
      ? [`  answered; it goes on with: ${command('resume', session)}`]
      : commandsFor(request).map((words) => `  ${command(...words)}`)),
  ]);
  return message
    ? [
        ...lines,
        `${style.yellow('?')} waits for a message`,
        `  ${command('run', '…', '--session', session)}`,
      ]
    : lines;
}

const anyJson = '{…}';
const longestArgs = 200;

/** The arguments as they are, to be changed. */
function editable(args: JsonValue | undefined): string {
  const text = args === undefined ? '' : visibleJson(args);
  return text === '' || text.length > longestArgs ? anyJson : text;
}

/** A call of a session that waits, as it is shown. */
export function askedBy({ request, ...call }: PendingCall): AskedRequest {
  return { ...call, summary: request.summary, options: request.options };
}

function untilText(expiresAt: number | undefined): string {
  return expiresAt === undefined ? '' : `, until ${formatTime(expiresAt)}`;
}

/** The ways to answer, as words of a command line. */
function commandsFor({ requestId, options, args }: AskedRequest): string[][] {
  return options.flatMap((option): string[][] => {
    if (option === 'approve' || option === 'reject') return [[option, requestId]];
    if (option === 'edit') return [['edit', requestId, editable(args)]];
    if (option === 'answer') return [['answer', requestId, anyJson]];
    return [['answer', requestId, '--decision', option]];
  });
}
