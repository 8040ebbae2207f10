import type { RequestEntry } from 'adjutant';
import { isAdjutantError, type JsonObject, type JsonValue, type RequestAnswer } from 'adjutant';
import { isClientFailure, UsageError } from '../failure.ts';
import { takesTexts, takesType } from '../grammar/schema-values.ts';
import { shorten } from '../output/format.ts';
import { type CommandText, exampleWords } from '../output/waiting.ts';

/** The parts of a request that tell which values it takes. */
type AskedFor = Pick<RequestEntry, 'requestId' | 'kind' | 'inputSchema'>;

/** Answer as it was typed. */
export interface GivenAnswer extends Omit<RequestAnswer, 'input'> {
  /** The input, the arguments or the result. */
  readonly value?: string | undefined;
}

/** Reads a value that was given as JSON on the command line. @throws UsageError */
export function givenJson(text: string): JsonValue {
  const json = parsed(text);
  if (typeof json === 'object') return json.value;
  throw new UsageError({
    reason: `${notJson(json)} Put it in single quotes: '{"name":"value"}', or '"a text"'.`,
  });
}

/**
 * Reads the value of an answer as its request takes it: as JSON, or as the text itself where texts
 * are taken.
 * @throws UsageError
 */
export function readAnswer(
  request: AskedFor,
  { value, ...answer }: GivenAnswer,
  command: CommandText,
): RequestAnswer {
  if (value === undefined) return answer;
  const schema = schemaOf(request, answer);
  if (schema === undefined) return { ...answer, input: givenJson(value) };
  const json = parsed(value);
  const isJson = typeof json === 'object';
  if (isJson && takesType(schema, json.value)) return { ...answer, input: json.value };
  // Where anything is taken, a slip in JSON would become a text.
  const isSlip = takesType(schema, {}) && /^\s*[{["]/.test(value);
  if (takesTexts(schema) && !isSlip) return { ...answer, input: value };
  if (isJson) return { ...answer, input: json.value };
  throw new UsageError({ reason: `${notJson(json)} ${taken(request, answer, command)}` });
}

/** Adds to a refusal of a value what the request takes. */
export function refusalOf(
  error: unknown,
  request: AskedFor,
  answer: RequestAnswer,
  command: CommandText,
): unknown {
  const isMismatch =
    isAdjutantError(error, 'input_mismatch') ||
    (isClientFailure(error) && error.code === 'input_mismatch');
  if (!isMismatch || schemaOf(request, answer) === undefined) return error;
  return new UsageError({ reason: `${error.message} ${taken(request, answer, command)}` });
}

const longestSchema = 500;

/** Says what the request takes, with a command that can be typed. */
function taken(
  request: AskedFor,
  answer: Pick<RequestAnswer, 'decision'>,
  command: CommandText,
): string {
  const { $schema: _, ...schema } = schemaOf(request, answer) ?? {};
  const example = command(...exampleWords(request, answer.decision ?? 'answer'));
  return `It takes ${shorten(JSON.stringify(schema), longestSchema)}. For example: ${example}`;
}

/** The schema of the value that belongs to an answer; `undefined` when it is not known. */
function schemaOf(
  { inputSchema, kind }: AskedFor,
  { decision = 'answer' }: Pick<RequestAnswer, 'decision'>,
): JsonObject | undefined {
  const isGiven = decision === 'edit' || (decision === 'answer' && kind === 'input');
  return isGiven ? inputSchema : undefined;
}

/** The value of a JSON text, or why it is none. */
function parsed(text: string): { readonly value: JsonValue } | string {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return (error as Error).message;
  }
}

function notJson(why: string): string {
  return `What was given is not JSON: ${why}.`;
}
