import type { JsonObject, JsonValue, PendingRequest, RequestEntry } from 'adjutant';
import { defined, visibleJson } from 'adjutant/text';
import { choicesOf, exampleOf, takesTexts } from '../grammar/schema-values.ts';
import { formatTime } from './format.ts';
import { laneWords } from './lane-text.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/** Parts of a request that are needed to show its question and the ways to answer. */
export interface AskedRequest
  extends Pick<RequestEntry, 'requestId' | 'kind' | 'summary' | 'options' | 'inputSchema'> {
  readonly expiresAt?: number | undefined;
  /** The arguments of the call. */
  readonly args?: JsonValue;
  /** True when its answer has come, and takes effect as the run continues. */
  readonly accepted?: boolean;
}

/** Requests and messages that a session waits for. */
export interface Waiting {
  readonly requests: readonly AskedRequest[];
  /** True when a loop waits for a message. */
  readonly message: boolean;
  /** Epoch milliseconds at which the first sleep ends. */
  readonly sleepsUntil?: number | undefined;
  readonly session: string;
  /** Lane of the run. `undefined`: the default lane. */
  readonly lane?: string | undefined;
  /** Name of the runnable of the run, when this program cannot continue it. */
  readonly elsewhere?: string | undefined;
}

/** Function that returns a command line, with the options of the present command. */
export type CommandText = (...words: string[]) => string;

const asks: Readonly<Record<AskedRequest['kind'], string>> = {
  approval: 'asks for approval',
  input: 'asks for an answer',
  result: 'waits for a result',
  recovery: 'asks what became of a call',
  repeat: 'asks whether to repeat a call that may have taken effect',
  limit: 'asks whether to go beyond a limit',
};

/**
 * Lines about the requests and messages that a session waits for, with the commands that answer.
 * @param command without it, no commands are named
 */
export function waitingLines(
  style: Style,
  { requests, message, sleepsUntil, session, lane, elsewhere }: Waiting,
  command?: CommandText,
): string[] {
  const program = `the program that has "${plainLine(elsewhere ?? '')}"`;
  const isHere = elsewhere === undefined;
  const resume = command?.('resume', session, ...laneWords(lane));
  const goesOn = isHere ? `with: ${resume}` : `in ${program}`;
  const indented = (...texts: readonly (string | undefined)[]): string[] =>
    command === undefined ? [] : texts.map((text) => `  ${text}`);
  const where = lane === undefined ? '' : ` · lane ${plainLine(lane)}`;
  const lines = requests.flatMap((request) => [
    `${style.yellow('?')} ${asks[request.kind]}: ` +
      `${style.bold(plainLine(request.summary))}${untilText(request.expiresAt)}${where}`,
    ...(request.accepted === true
      ? indented(`answered; it goes on ${goesOn}`)
      : indented(...commandsFor(request).map((words) => command?.(...words)))),
  ]);
  if (message)
    lines.push(
      `${style.yellow('?')} waits for a message${where}`,
      ...indented(
        isHere
          ? command?.('run', '…', '--session', session, ...laneWords(lane))
          : `${program} takes it`,
      ),
    );
  if (sleepsUntil !== undefined)
    lines.push(
      `${style.yellow('◷')} sleeps until ${formatTime(sleepsUntil)}${where}`,
      ...indented(isHere ? `from then on: ${resume}` : `from then on it goes on ${goesOn}`),
    );
  return lines;
}

const anyJson = '{…}';
const longestValue = 200;
const mostChoices = 4;

/** A value as JSON that a person can edit in a command. */
function editable(value: JsonValue | undefined): string {
  const text = value === undefined ? '' : visibleJson(value);
  return text === '' || text.length > longestValue ? anyJson : text;
}

/** A value as the word that gives it: JSON, or the text itself where texts are taken. */
function typedAs(schema: JsonObject, value: JsonValue): string {
  return typeof value === 'string' && takesTexts(schema) ? value : editable(value);
}

/** Values to suggest as the answer to a request, as words of a command line. */
function suggested({ kind, inputSchema }: Pick<AskedRequest, 'kind' | 'inputSchema'>): string[] {
  if (kind !== 'input' || inputSchema === undefined) return [anyJson];
  const choices = choicesOf(inputSchema) ?? [exampleOf(inputSchema)];
  const shown = choices.length > mostChoices ? choices.slice(0, 1) : choices;
  return shown.map((value) => typedAs(inputSchema, value));
}

/** Words of a command that gives a value of the form that a request takes. */
export function exampleWords(
  request: Pick<AskedRequest, 'requestId' | 'kind' | 'inputSchema'>,
  decision: string,
): string[] {
  const { requestId, inputSchema = {} } = request;
  if (decision === 'edit') return ['edit', requestId, editable(exampleOf(inputSchema))];
  return ['answer', requestId, ...suggested(request).slice(0, 1)];
}

/** Returns a waiting call of a session in the form in which it is shown. */
export function askedBy({ request, ...call }: PendingRequest): AskedRequest {
  const { summary, options, inputSchema } = request;
  return { ...call, summary, options, ...defined({ inputSchema }) };
}

function untilText(expiresAt: number | undefined): string {
  return expiresAt === undefined ? '' : `, until ${formatTime(expiresAt)}`;
}

/** Returns the ways to answer, as words of a command line. */
function commandsFor(request: AskedRequest): string[][] {
  const { requestId, options, args } = request;
  return options.flatMap((option): string[][] => {
    if (option === 'approve' || option === 'reject') return [[option, requestId]];
    if (option === 'edit') return [['edit', requestId, editable(args)]];
    if (option === 'answer') return suggested(request).map((value) => [option, requestId, value]);
    return [['answer', requestId, '--decision', option]];
  });
}
