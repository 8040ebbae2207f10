import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { assertComplete } from './call-arguments.ts';
import { type Action, callOf } from './call-object.ts';
import { LiteralReader } from './literal-reader.ts';
import type { OfferedTool, OfferedTools } from './offered-tools.ts';
import { ReadProblem } from './read-problem.ts';

const functionTag =
  /<(?:function|invoke)(?:=|\(|\s{1,3}name=)["']?([\w.:-]{1,100})["']?(?:\)?\s{0,3}>|(?=\{))/iy;
const parameterTag =
  /\s*<(?:parameter|param|arg)(?:=|\s{1,3}name=)["']?([\w.-]{1,100})["']?\s{0,3}>/iy;
const keyTag = /\s*<arg_key>\s{0,9}([\w.-]{1,100})\s{0,9}<\/arg_key>\s*<arg_value>/iy;
const endOfFunction = /[\s>]*<\/(?:function|invoke|tool_call|function_call)(?:=[\w.-]{1,100})?>/iy;

function matched(reader: LiteralReader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found === null) return undefined;
  reader.at += found[0].length;
  return found[1];
}

/**
 * Reads `<function=name>{…}</function>`, the same with `<parameter=…>` in it, and `<invoke
 * name="…">`. `undefined`: no such tag begins here.
 * @throws ReadProblem
 */
export function functionTagAt(reader: LiteralReader, tools: OfferedTools): Action | undefined {
  const name = matched(reader, functionTag);
  if (name === undefined) return undefined;
  const tool = tools.find(name);
  reader.skip();
  const args =
    reader.text[reader.at] === '{' ? (reader.value() as JsonObject) : parameters(reader, tool);
  assertComplete(reader, tool, args);
  const isClosed = reader.match(endOfFunction) !== undefined;
  if (!isClosed && Object.keys(args).length === 0)
    reader.refuse(`the arguments of "${name}" are missing`);
  return callOf(tool, name, args);
}

/** True when pairs of `<arg_key>` and `<arg_value>` begin here. */
export function isKeyTag(reader: LiteralReader): boolean {
  keyTag.lastIndex = reader.at;
  return keyTag.test(reader.text);
}

/**
 * Reads the arguments that stand in tags of their own.
 * @throws ReadProblem
 */
export function parameters(reader: LiteralReader, tool: OfferedTool | undefined): JsonObject {
  const args = new Map<string, JsonValue>();
  for (;;) {
    const start = reader.at;
    const key = matched(reader, parameterTag);
    const name = key ?? matched(reader, keyTag);
    if (name === undefined) break;
    const end = key === undefined ? /<\/arg_value>/i : /<\/(?:parameter|param|arg)>/i;
    const length = reader.text.slice(reader.at).search(end);
    if (length < 0) reader.refuse(`the value of "${name}" is not closed; it begins`);
    if (args.has(name) || name === '__proto__')
      reader.refuse(`"${name}" is given twice, again`, start);
    args.set(name, typedValue(reader.text.slice(reader.at, reader.at + length), name, tool));
    reader.at += length;
    reader.match(/<\/\w{1,20}>/y);
  }
  return Object.fromEntries(args);
}

/** Values in tags have no quotes: the type that the tool declares decides. */
function typedValue(written: string, name: string, tool: OfferedTool | undefined): JsonValue {
  const types = tool?.arguments.find((one) => one.name === name)?.types ?? [];
  const text = written.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  if (types.length === 0 || types.includes('string')) return text;
  const reader = new LiteralReader(text, 0, { words: false });
  const value = reader.value();
  reader.skip();
  if (reader.at < text.length)
    throw new ReadProblem(`the value of "${name}" is not of type ${types.join(' or ')}`);
  return value;
}
