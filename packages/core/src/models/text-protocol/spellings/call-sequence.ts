import type { JsonObject } from '../../../base/json.ts';
import { argumentsOfPairs, assertComplete, pairs } from './call-arguments.ts';
import { type Action, callOf, callsOf } from './call-object.ts';
import { LiteralReader } from './literal-reader.ts';
import { isRecord, type OfferedTool, type OfferedTools } from './offered-tools.ts';
import { reading } from './read-problem.ts';
import { functionTagAt, isKeyTag, parameters } from './tagged-call.ts';

/**
 * Tokens around and between calls: tags of model families, fences, and what models put between the
 * items of a list.
 */
const between = new RegExp(
  [
    '\\s+',
    '[,;]',
    '```[\\w-]{0,20}(?=[\\s<]|$)',
    '`{1,3}(?=[\\s<]|$)',
    '</(?:function|invoke)>',
    '<[/|]{0,2}(?:tool_?calls?|tools|function_?calls?|tool_code|(?:start|end)_function_call)\\|?>',
    '<\\|?/?tool_calls?(?:_section)?_(?:start|begin|end)\\|>',
    '<\\|(?:python_tag|eot_id|eom_id|im_end|end|call|end_of_text|endoftext|start)\\|>',
    '<｜tool▁calls?▁(?:begin|end)｜>(?:function<｜tool▁sep｜>)?',
    '<｜end▁of▁sentence｜>|</s>|<end_of_turn>|<bot_end>',
    '\\[/?TOOL_CALLS\\]|\\[(?:END_)?TOOL_REQUEST\\]',
    'functools(?=\\s{0,3}\\[)|assistant(?=<\\|channel\\|>)',
  ].join('|'),
  'iy',
);
/** The name of a tool before its arguments, and what stands between them. */
const nameBefore = new RegExp(
  '(?:call:|<\\|channel\\|>commentary to=)?([A-Za-z_][\\w.-]{0,99})(?::\\d{1,4})?' +
    '(?:\\s{0,3}<｜tool▁sep｜>|\\s{0,3}<\\|tool_call_argument_begin\\|>|' +
    '\\[CALL_ID\\]\\w{1,40}(?=\\[ARGS\\])|' +
    '\\s{0,3}<\\|constrain\\|>\\s{0,3}json)?' +
    '(?:\\[ARGS\\]|<\\|message\\|>)?\\s{0,9}(?::\\s{0,5})?(?:```(?:json)?\\s{0,9})?(?=[{(<])',
  'y',
);
const wrappedCall = /(?:print|await|return)[ (]\s*(?=[\w.]{1,100}\s{0,3}\()/y;
/** Python models write a list of function calls. */
const listOfFunctions = /\[\s{0,9}(?=[A-Za-z_][\w.]{0,99}\s{0,3}\()/y;

export interface CallSequence {
  readonly actions: readonly Action[];
  /** Text behind the calls. */
  readonly rest: string;
  /** True when that text stands on a line of its own. */
  readonly isRestBelow: boolean;
  /** The reason for which the text behind the calls is no further call. */
  readonly problem: string | undefined;
}

export interface SequenceOptions {
  readonly isMarked: boolean;
  readonly isCut: boolean;
}

/** Reads the calls that a text begins with, in any spelling. */
export function readCallSequence(
  written: string,
  tools: OfferedTools,
  { isMarked, isCut }: SequenceOptions,
): CallSequence {
  const text = written.includes('<start_function_call>')
    ? written.replaceAll('<escape>', '"')
    : written;
  const reader = new LiteralReader(text, 0, { isCut });
  const actions: Action[] = [];
  for (let end = 0; ; end = reader.at) {
    while (reader.match(between) !== undefined);
    const start = reader.at;
    const read = reading(() => callsAt(reader, tools, isMarked));
    const found = 'value' in read ? read.value : undefined;
    if (found === undefined || found.length === 0) {
      const problem = 'problem' in read ? read.problem : undefined;
      const isRestBelow = text.slice(end, start).includes('\n');
      return { actions, rest: text.slice(start), isRestBelow, problem };
    }
    actions.push(...found);
  }
}

function callsAt(
  reader: LiteralReader,
  tools: OfferedTools,
  isMarked: boolean,
): readonly Action[] | undefined {
  const tagged = functionTagAt(reader, tools);
  if (tagged !== undefined) return [tagged];
  if (reader.match(listOfFunctions) !== undefined) return functionList(reader, tools);
  const char = reader.text[reader.at];
  if (char === '{' || char === '[') {
    const calls = callsOf(reader.value(), tools, isMarked);
    for (const call of calls)
      if (call.type === 'call')
        assertComplete(reader, tools.find(call.tool), JSON.parse(call.input) as JsonObject);
    // Some models close more brackets than they opened.
    reader.match(/[\s}]*\}/y);
    return calls;
  }
  return namedCallAt(reader, tools);
}

function functionList(reader: LiteralReader, tools: OfferedTools): readonly Action[] {
  const calls: Action[] = [];
  for (;;) {
    reader.skip();
    if (reader.takes(']')) return calls;
    const [call] = namedCallAt(reader, tools) ?? [];
    if (call === undefined) reader.refuse('a call such as name(argument="value") was expected');
    calls.push(call);
    reader.skip();
    if (!reader.takes(',') && reader.text[reader.at] !== ']')
      reader.refuse('a comma or "]" was expected');
  }
}

/** `name(…)`, `name {…}`, `name: {…}`, and the same in the tokens of model families. */
function namedCallAt(reader: LiteralReader, tools: OfferedTools): readonly Action[] | undefined {
  const isPrinted = reader.match(wrappedCall)?.startsWith('print') === true;
  nameBefore.lastIndex = reader.at;
  const found = nameBefore.exec(reader.text);
  const name = found?.[1];
  if (found === null || name === undefined) return undefined;
  const start = reader.at;
  reader.at += found[0].length;
  // `name.call(…)` is how Llama calls the tools that are built into it.
  const tool = tools.find(name) ?? tools.find(name.replace(/\.call$/, ''));
  if (reader.text[reader.at] === '{') {
    const value = reader.value() as JsonObject;
    const args = unwrapped(value, tool, tools);
    // A word that is no tool may stand before a whole call.
    if (args === undefined && tool === undefined) return callsOf(value, tools, true);
    if (args === undefined) reader.refuse('two different tools are named', start);
    assertComplete(reader, tool, args);
    return [callOf(tool, name, args)];
  }
  const call = callOf(tool, name, argumentsAt(reader, tool));
  if (isPrinted) reader.match(/\s*\)/y);
  return [call];
}

function argumentsAt(reader: LiteralReader, tool: OfferedTool | undefined): JsonObject {
  if (reader.takes('(')) return argumentsOfPairs(pairs(reader), tool);
  if (/^<\/(?:tool|function)_call>/.test(reader.text.slice(reader.at, reader.at + 20))) return {};
  if (!isKeyTag(reader)) reader.refuse('the arguments were expected');
  return parameters(reader, tool);
}

/**
 * The arguments of a call whose tool was named before. Some models repeat the whole call there.
 * `undefined`: it is the call of another tool.
 */
export function unwrapped(
  value: JsonObject,
  tool: OfferedTool | undefined,
  tools: OfferedTools,
): JsonObject | undefined {
  const isDeclared = tool?.arguments.some(({ name }) => Object.hasOwn(value, name)) === true;
  if (isDeclared) return value;
  const read = reading(() => callsOf(value, tools, false));
  const [call] = 'value' in read ? read.value : [];
  if (call?.type !== 'call') return value;
  const args = JSON.parse(call.input) as JsonObject;
  return call.tool === tool?.name && isRecord(args) ? args : undefined;
}

/** True when a text has something that looks like one more call. */
export function mayHoldCall(text: string, tools: OfferedTools): boolean {
  return tools.list.some(({ name }) => text.includes(name)) && /[{(]/.test(text);
}
