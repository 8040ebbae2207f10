import { isPlainObject, type JsonValue } from '../base/json.ts';
import { cutText } from '../base/text/cut-text.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';
import type { ResultCheckOptions } from './options.ts';
import { pageText } from './page-text.ts';
import { hasWord, significantWords } from './search-words.ts';

/** Settings for the checks of a tool's results, besides its name and its arguments. */
export interface ToolCheck<Args = JsonValue> {
  /** True to doubt an empty result. @default true for tools that only read */
  readonly empty?: boolean;
  /**
   * Name of the argument with the words that are searched for. @default `query`, `q`, `search` or
   * `keywords` of tools that only read
   */
  readonly query?: string;
  /**
   * A check that returns its doubt about a successful result as a sentence for the model, or
   * `undefined`. Pure: it uses only its arguments.
   */
  readonly validate?: (result: ToolResult, args: Args) => string | undefined;
}

export interface CheckedCall {
  readonly name: string;
  readonly args: JsonValue;
  readonly readOnly: boolean;
  readonly check?: ToolCheck | undefined;
}

/** A result that is doubted. */
export interface ResultDoubt {
  /** The result, changed by the doubt. */
  readonly result: ToolResult;
  /** For the model. */
  readonly notes: readonly string[];
  /** For people. */
  readonly reasoning: string;
  /** Names of the checks that doubt it, such as `empty_result`. */
  readonly check: string;
}

interface Doubt {
  readonly check: string;
  readonly confidence: number;
  readonly isPartial: boolean;
  readonly note: string;
  readonly reasoning: string;
}

/**
 * Confidence in an empty result, in a refusal in place of a page, and in a result without the words
 * of its query.
 */
const confidences = {
  empty_result: 0.3,
  blocked_page: 0.2,
  relevance: 0.4,
  validate: 0.4,
} as const;

/** Confidence below which prompts say so by themselves, whatever the options. */
const saidByPrompt = 0.5;

/** Checks a successful result. Pure; returns `undefined` without a doubt. */
export function checkResult(
  call: CheckedCall,
  result: ToolResult,
  options: Required<ResultCheckOptions>,
): ResultDoubt | undefined {
  if (!isSuccess(result)) return undefined;
  const doubts = doubtsOf(call, result, options);
  const given = result.confidence ?? 1;
  if (doubts.length === 0)
    return given < options.lowConfidence && given >= saidByPrompt
      ? unsure(call, result, given, options)
      : undefined;
  // A doubt never makes a result surer than its tool was.
  const confidence = Math.min(given, ...doubts.map((doubt) => doubt.confidence));
  const partial = doubts.find(({ isPartial }) => isPartial);
  const doubted: ToolResult = {
    ...result,
    ...(partial === undefined
      ? {}
      : { status: 'partial', errorType: result.errorType ?? partial.check }),
    confidence,
  };
  return {
    result: Object.freeze(doubted),
    notes: confidence < options.lowConfidence ? doubts.map(({ note }) => note) : [],
    reasoning:
      `${doubts.map(({ reasoning }) => reasoning).join(' ')} The confidence in it is ` +
      `${confidence}.`,
    check: doubts.map(({ check }) => check).join(', '),
  };
}

/** The tool's own confidence is below the configured limit. */
function unsure(
  { name }: CheckedCall,
  result: ToolResult,
  confidence: number,
  { lowConfidence }: Required<ResultCheckOptions>,
): ResultDoubt {
  return {
    result,
    notes: [`Low confidence (${confidence}): check this before you rely on it.`],
    reasoning:
      `${name} gave its result a confidence of ${confidence}, and ${lowConfidence} is asked ` +
      'for.',
    check: 'confidence',
  };
}

function doubtsOf(
  call: CheckedCall,
  result: ToolResult,
  options: Required<ResultCheckOptions>,
): readonly Doubt[] {
  const doubts: Doubt[] = [];
  const first =
    emptyDoubt(call, result, options) ??
    pageDoubt(call, result, options) ??
    relevanceDoubt(call, result, options);
  if (first !== undefined) doubts.push(first);
  const own =
    call.check?.validate === undefined ? undefined : ownDoubt(call, result, call.check.validate);
  if (own !== undefined) doubts.push(own);
  return doubts;
}

function emptyDoubt(
  { name, readOnly, check }: CheckedCall,
  { content }: ToolResult,
  { empty }: Required<ResultCheckOptions>,
): Doubt | undefined {
  if (!empty || !(check?.empty ?? readOnly) || !isEmpty(content)) return undefined;
  return {
    check: 'empty_result',
    confidence: confidences.empty_result,
    isPartial: true,
    note:
      'The result is empty. That may mean that there is nothing, or that it was looked for ' +
      'in the wrong way: do not fill it in from memory.',
    reasoning: `${name} gave an empty result.`,
  };
}

/** Members that tell of a list and not of what is in it. */
const aroundLists = new RegExp(
  [
    '^(?:q|query|search|keywords|page|page_?size|per_?page|limit|offset|total',
    String.raw`count|size|took|cursor|next|has_?more|ok|success|status)$`,
  ].join('|'),
  'i',
);

/** True for an empty value, or for an object with one empty list and no other content. */
function isEmpty(content: JsonValue): boolean {
  if (content === null) return true;
  if (typeof content === 'string') return content.trim() === '';
  if (typeof content !== 'object') return false;
  if (Array.isArray(content)) return content.length === 0;
  let lists = 0;
  let members = 0;
  for (const [member, value] of Object.entries(content)) {
    if (value === undefined) continue;
    members++;
    if (Array.isArray(value)) {
      if (value.length > 0) return false;
      lists++;
    } else if (!aroundLists.test(member) && !isNothing(value)) return false;
  }
  return members === 0 || lists === 1;
}

function isNothing(value: JsonValue): boolean {
  return (
    value === null ||
    value === '' ||
    value === 0 ||
    value === false ||
    (isPlainObject(value) && Object.keys(value).length === 0)
  );
}

/** Titles of pages that stand in the place of the one that was asked for. */
const refusals = new RegExp(
  [
    String.raw`^(?:(?:error )?403\W{0,3}forbidden|error 403\b|forbidden\W{0,2}$`,
    'access (?:to this (?:page|site) (?:has been )?)?denied|attention required!',
    'just a moment|one moment, please|are you (?:a robot|human|not a robot)',
    String.raw`(?:robot|human|security) (?:check|verification)\W{0,3}$`,
    'verify(?:ing)? (?:that )?you are (?:a )?human|(?:captcha',
    String.raw`robot or human)\W{0,2}$|checking your browser|ddos-guard`,
    'pardon our interruption|request blocked|(?:sorry, )?you have been blocked',
    'unusual traffic (?:from|detected))',
  ].join('|'),
  'i',
);

/** Words that only such pages have, at any place. */
const confessions = new RegExp(
  [
    'verify (?:that )?you are (?:a )?human|(?:complete|solve) the captcha',
    'enable javascript and cookies to continue',
    'unusual traffic from your (?:computer )?network',
    String.raw`checking your browser before accessing|are you a robot\?|press (?:and`,
    '&) hold to confirm you are',
  ].join('|'),
  'i',
);

/** Without one of these there is no need to read the page. */
const hints = new RegExp(
  [
    '403|denied|attention|moment|robot|human|security|captcha|browser|ddos',
    'pardon|blocked|forbidden|unusual|cookies',
  ].join('|'),
  'i',
);

/** Characters of a page that may be a refusal: an article about captchas is longer. */
const longestRefusal = 2_000;

function pageDoubt(
  { name }: CheckedCall,
  { content }: ToolResult,
  { blockPages }: Required<ResultCheckOptions>,
): Doubt | undefined {
  const page = blockPages ? pageText(content, hints) : undefined;
  if (page === undefined || page.text.length > longestRefusal) return undefined;
  const sign =
    page.headings.find((heading) => refusals.test(heading.slice(0, 200).trim())) ??
    confessions.exec(page.text)?.[0];
  if (sign === undefined) return undefined;
  const shown = cutText(sign, 80);
  return {
    check: 'blocked_page',
    confidence: confidences.blocked_page,
    isPartial: true,
    note:
      `This looks like a page that keeps visitors out ("${shown}") and not like what was ` +
      'asked for: take nothing from it, and look for another source.',
    reasoning: `What ${name} gave looks like a page that keeps visitors out: "${shown}".`,
  };
}

const queryArguments = ['query', 'q', 'search', 'keywords'];

function queryOf({ args, readOnly, check }: CheckedCall): string | undefined {
  if (!isPlainObject(args)) return undefined;
  const names = check?.query === undefined ? (readOnly ? queryArguments : []) : [check.query];
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((word) => typeof word === 'string'))
      return value.join(' ');
  }
  return undefined;
}

/** A query in the language of a database is not made of the words of its answer. */
const isCode = (query: string): boolean =>
  new RegExp(
    [
      String.raw`[=<>(){};*\\|]|^\s{0,20}(?:select|with|insert|update|delete`,
      String.raw`match)\s.{0,900}\b(?:from|as|into|set|return)\b`,
    ].join('|'),
    'is',
  ).test(query);

function relevanceDoubt(
  call: CheckedCall,
  { content }: ToolResult,
  { relevance }: Required<ResultCheckOptions>,
): Doubt | undefined {
  const query = relevance ? queryOf(call) : undefined;
  if (
    query === undefined ||
    !holdsText(content) ||
    isEmpty(content) ||
    isCode(query.slice(0, 1_000))
  )
    return undefined;
  const words = significantWords(query);
  if (words.length === 0 || hasWord(words, query, content)) return undefined;
  const shown = cutText(query, 80);
  return {
    check: 'relevance',
    confidence: confidences.relevance,
    isPartial: false,
    note: `None of the words of "${shown}" occurs in the result: it may be about something else.`,
    reasoning: `None of the words of the query "${shown}" occurs in what ${call.name} gave.`,
  };
}

/** Numbers and flags answer a query without its words. */
function holdsText(content: JsonValue): boolean {
  return (
    (typeof content === 'string' && content.trim() !== '') ||
    (typeof content === 'object' && content !== null)
  );
}

function ownDoubt(
  { name, args }: CheckedCall,
  result: ToolResult,
  validate: NonNullable<ToolCheck['validate']>,
): Doubt | undefined {
  let doubt: string | undefined;
  try {
    doubt = validate(result, args);
  } catch {
    // A result that cannot be checked counts as doubtful. The message of the error may hold any
    // value, so it is left out.
    doubt = `The tool's own check of this result failed: it has not been checked.`;
  }
  if (doubt === undefined) return undefined;
  return {
    check: 'validate',
    confidence: confidences.validate,
    isPartial: false,
    note: doubt,
    reasoning: `The check of ${name} doubts its result: ${doubt}`,
  };
}
