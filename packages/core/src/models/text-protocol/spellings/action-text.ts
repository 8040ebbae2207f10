import type { JsonObject } from '../../../base/json.ts';
import { argumentsInText, assertComplete } from './call-arguments.ts';
import { type Action, callOf, isFinalAnswer } from './call-object.ts';
import { type CallSequence, mayHoldCall, readCallSequence, unwrapped } from './call-sequence.ts';
import { LiteralReader } from './literal-reader.ts';
import type { OfferedTool, OfferedTools } from './offered-tools.ts';
import { ReadProblem } from './read-problem.ts';

const quote = '[`*"\'“”]{0,3}';
const name = '([A-Za-z_][\\w. -]{0,99}?)';
const inputLabel =
  '(?:(?:Action|Tool)[ _]?)?(?:Inputs?|Args|Arguments?|Parameters?|Params)[*_ ]{0,4}[:=]';
/** `calc` with `Action Input: …` below it. */
const withInput = new RegExp(
  `^\\[?${quote}${name}${quote}(?:\\(\\)|\\])?[ \\t]{0,20}\\n` +
    `\\s{0,20}[*_]{0,3}${inputLabel}[*_]{0,3}([\\s\\S]*)$`,
  'i',
);
/** `tool: calc, arguments: …` */
const labelled = new RegExp(
  `^[*_-]{0,3} ?(?:tool|name|tool[_ ]name|function)\\s{0,5}[:=]\\s{0,5}${quote}${name}${quote}` +
    `\\s{0,5}[,;\\n]\\s{0,9}[*_-]{0,3} ?${inputLabel}([\\s\\S]*)$`,
  'i',
);
/** `use calc with {…}` */
const inWords = new RegExp(
  `^(?:(?:use|call|run|invoke|execute)\\s{1,3})?(?:the\\s{1,3})?(?:tool\\s{1,3})?${quote}` +
    `([A-Za-z_][\\w.-]{0,99})${quote}\\s{0,3}(?:tool|function)?\\s{0,3}` +
    `(?:with|using|on|,|:|->|=>)?` +
    `\\s{0,3}(?:the\\s)?(?:${inputLabel}|arguments|args|parameters|input)?\\s{0,3}(?=\\{)`,
  'i',
);
const alone = new RegExp(`^${quote}${name}${quote}\\.?$`);
/** `Search[moon]`, as in the paper of ReAct. */
const bracketed = new RegExp(`^${quote}${name}\\[([^[\\]]*)\\]${quote}$`);
const noAction = new RegExp(
  `^${quote}(?:none|n/a|nothing|no (?:further )?(?:action|tool)s?)` +
    `(?: (?:is |are )?(?:needed|required|necessary))?\\.?${quote}$`,
  'i',
);

/** True for an action that says that there is none: `Action: None`. */
export function isNoAction(text: string): boolean {
  return noAction.test(text.trim());
}

/**
 * The calls in the text behind `Action:`, in any spelling.
 * @throws ReadProblem
 */
export function readActionText(
  text: string,
  tools: OfferedTools,
  isCut: boolean,
): readonly Action[] {
  const written = text.trim().replace(/^`([^`]+)`$/, '$1');
  if (written === '') throw new ReadProblem('nothing follows "Action:"');
  const [, named, input] = withInput.exec(written) ?? labelled.exec(written) ?? [];
  if (named !== undefined && input !== undefined) return [namedCall(named, input, tools, isCut)];
  const sequence = readCallSequence(written, tools, { isMarked: true, isCut });
  const { actions, rest, problem } = sequence;
  if (actions.length > 0) {
    if (!isProse(sequence) || (/^[[{<]/.test(rest) && mayHoldCall(rest, tools)))
      throw new ReadProblem(
        `text that may belong to the call stands behind it: ${rest.slice(0, 40)}`,
      );
    return actions;
  }
  const found = inOtherWords(written, tools, isCut);
  if (found === undefined)
    throw new ReadProblem(
      problem ?? 'it is neither JSON nor the name of a tool with its arguments',
    );
  return found;
}

/** True when the text behind a call is none of its arguments that a wrong bracket cut off. */
function isProse({ rest, isRestBelow }: Pick<CallSequence, 'rest' | 'isRestBelow'>): boolean {
  if (/^["'`“:={}[\])]|^[\w-]{1,50}["']?\s{0,5}[:=]/.test(rest)) return false;
  return isRestBelow || !/[{}[\]]|["'”]\s{0,5}:|\)\s{0,5}$/.test(rest);
}

function namedCall(named: string, input: string, tools: OfferedTools, isCut: boolean): Action {
  const tool = tools.find(named);
  if (isFinalAnswer(named)) return { type: 'answer', text: input.trim() };
  if (tool === undefined && /\s/.test(named.trim()))
    throw new ReadProblem(`"${named.trim()}" is not the name of a tool`);
  return callOf(tool, named, inputOf(input, tool, tools, isCut));
}

function inputOf(
  input: string,
  tool: OfferedTool | undefined,
  tools: OfferedTools,
  isCut: boolean,
): JsonObject {
  const text = withoutFence(input.trim());
  if (!text.startsWith('{')) {
    if (text.includes('\n') && text === input.trim())
      throw new ReadProblem('the input has several lines and is not JSON');
    return argumentsInText(text, tool, { isCut });
  }
  const reader = new LiteralReader(text, 0, { isCut });
  const value = reader.value() as JsonObject;
  reader.match(/[\s}`]*/y);
  const rest = text.slice(reader.at);
  if (!isProse({ rest, isRestBelow: text.slice(0, reader.at).endsWith('\n') }))
    reader.refuse('more follows');
  const args = /^[[{]/.test(rest) ? undefined : unwrapped(value, tool, tools);
  if (args === undefined) throw new ReadProblem('more than the input of one tool is given');
  assertComplete(reader, tool, args);
  return rest === '' ? argumentsInText(JSON.stringify(args), tool) : args;
}

/** The content of a fence or of backticks, or else the text. */
function withoutFence(text: string): string {
  if (text.length >= 6 && text.startsWith('```') && text.endsWith('```'))
    return text
      .slice(3, -3)
      .replace(/^[\w-]{1,20}(?=\s)/, '')
      .trim();
  return /^`([^`]*)`$/.exec(text)?.[1] ?? text;
}

function inOtherWords(
  written: string,
  tools: OfferedTools,
  isCut: boolean,
): readonly Action[] | undefined {
  const answer = /^final[ _]answer\s*[:\n]\s*(?:Action Input:)?([\s\S]+)$/i.exec(written)?.[1];
  if (answer !== undefined) return [{ type: 'answer', text: answer.trim() }];
  const single = alone.exec(written)?.[1];
  const tool = single === undefined ? undefined : tools.find(single);
  if (tool !== undefined) {
    if (isCut || tool.arguments.some(({ isRequired }) => isRequired))
      throw new ReadProblem(`the arguments of "${tool.name}" are missing`);
    return [callOf(tool, tool.name, {})];
  }
  const [, outer, inner] = bracketed.exec(written) ?? [];
  if (outer !== undefined && inner !== undefined) return bracketedCall(outer, inner, tools);
  const words = inWords.exec(written);
  const meant = words?.[1] === undefined ? undefined : tools.find(words[1]);
  if (words !== null && meant !== undefined)
    return [
      callOf(meant, meant.name, inputOf(written.slice(words[0].length), meant, tools, isCut)),
    ];
  const start = written.indexOf('{');
  if (start < 0) return undefined;
  const { actions } = readCallSequence(written.slice(start), tools, { isMarked: false, isCut });
  return actions.length > 0 && areKnown(actions, tools) ? actions : undefined;
}

function bracketedCall(
  outer: string,
  inner: string,
  tools: OfferedTools,
): readonly Action[] | undefined {
  const tool = tools.find(outer);
  if (tool !== undefined) return [callOf(tool, tool.name, argumentsInText(inner, tool))];
  return /^finish$/i.test(outer) ? [{ type: 'answer', text: inner.trim() }] : undefined;
}

/** True when all calls are of tools that there are. */
export function areKnown(actions: readonly Action[], tools: OfferedTools): boolean {
  return actions.every(
    (action) => action.type === 'answer' || tools.find(action.tool) !== undefined,
  );
}
