import type { JsonObject, JsonValue } from '../base/json.ts';
import { terminalLine } from './terminal-text.ts';
import type { UserAnswer, UserQuestion } from './user.ts';

/** The typed text as an answer, a complaint about it, or a follow-up question. */
export type ReadAnswer =
  | { readonly answer: UserAnswer }
  | { readonly complaint: string }
  | { readonly wantsArgs: true };

const words: Readonly<Record<string, string>> = {
  approve: '[y]es',
  edit: '[e]dit',
  reject: '[n]o',
  continue: '[y]es, or by how much',
};

/** Returns the possible inputs for a decision. */
export function choices({ options, kind }: Pick<UserQuestion, 'options' | 'kind'>): string {
  const offered = options
    .filter((option) => option !== 'answer')
    .map((option) => (kind === 'recovery' ? option : (words[option] ?? option)));
  const more =
    kind === 'recovery'
      ? ' (the result may follow `succeeded`)'
      : options.includes('reject')
        ? ' (a reason may follow)'
        : '';
  return `${offered.join(', ')}${more}`;
}

/**
 * Reads a decision: its first word says which, and what follows is the reason, the result or the
 * amount.
 */
export function readDecision(
  typed: string,
  question: Pick<UserQuestion, 'options' | 'kind'>,
): ReadAnswer {
  const { options } = question;
  const text = typed.trim();
  const [first = '', ...others] = text.split(/\s+/);
  const word = first.toLowerCase().replace(/[,:.]$/, '');
  const rest = others.join(' ');
  const more = rest === '' ? {} : { reason: rest };
  const amount = Number(text);
  if (options.includes('continue') && text !== '' && Number.isFinite(amount))
    return { answer: { decision: 'continue', input: amount } };
  const decision = options.find(
    (option) => option === word || shortcuts[word]?.includes(option) === true,
  );
  if (decision === undefined || decision === 'answer')
    return { complaint: `Type ${choices(question)}.` };
  if (decision === 'edit') return { wantsArgs: true };
  if (decision === 'continue' && rest !== '')
    return { complaint: 'To let it go on by some amount, type the number alone.' };
  if (decision === 'succeeded')
    return { answer: { decision, ...(rest === '' ? {} : { input: jsonOrText(rest) }) } };
  return { answer: { decision, ...more } };
}

const shortcuts: Readonly<Record<string, readonly string[]>> = {
  y: ['approve', 'continue'],
  yes: ['approve', 'continue'],
  e: ['edit'],
  n: ['reject'],
  no: ['reject'],
};

/** JSON, or `undefined` with a complaint that does not repeat what was typed. */
export function readJson(
  typed: string,
): { readonly value: JsonValue } | { readonly complaint: string } {
  try {
    return { value: JSON.parse(typed) as JsonValue };
  } catch {
    return { complaint: 'This is not JSON.' };
  }
}

function jsonOrText(typed: string): JsonValue {
  const read = readJson(typed);
  return 'value' in read ? read.value : typed;
}

/**
 * Reads input by its schema: a text where texts are wanted, and where an object with one text is;
 * else JSON.
 */
export function readInput(
  typed: string,
  schema: JsonObject | undefined,
): { readonly value: JsonValue } | { readonly complaint: string } {
  if (schema === undefined) return { value: jsonOrText(typed) };
  if (schema['type'] === 'string') return { value: typed };
  const read = readJson(typed);
  const member = onlyText(schema);
  const isWhole = 'value' in read && typeof read.value === 'object' && read.value !== null;
  if (member !== undefined && !isWhole) return { value: { [member]: typed } };
  return read;
}

/** The one member of an object's schema, when it is a text. */
function onlyText({ type, properties }: JsonObject): string | undefined {
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined;
  const [first, ...others] = Object.entries(properties as JsonObject);
  if (first === undefined || others.length > 0) return undefined;
  return (first[1] as JsonObject | undefined)?.['type'] === 'string' ? first[0] : undefined;
}

/** Returns the head of a question: the asking agent, the subject and the arguments. */
export function questionHead({
  agent,
  toolName,
  kind,
  summary,
  details,
  args,
}: UserQuestion): string {
  const shown = details ?? args;
  const about =
    kind === 'limit' || shown === null ? '' : `\n  ${terminalLine(JSON.stringify(shown) ?? '')}`;
  return (
    `\n${terminalLine(agent)} ${asks[kind]} ` +
    `${kind === 'limit' ? '' : `${terminalLine(toolName)}: `}${terminalLine(summary)}${about}\n`
  );
}

const asks: Readonly<Record<UserQuestion['kind'], string>> = {
  approval: 'wants to call',
  input: 'asks by',
  result: 'waits for the result of',
  recovery: 'does not know what became of',
  repeat: 'wants to repeat',
  limit: 'is at a limit:',
};
