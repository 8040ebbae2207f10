import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { LiteralReader } from './literal-reader.ts';
import { isRecord, type OfferedTool, onlyArgument } from './offered-tools.ts';
import { ReadProblem, reading } from './read-problem.ts';

/**
 * The arguments of a call as an object. A value without a name is accepted when it can be for one
 * argument only.
 * @throws ReadProblem
 */
export function argumentsOf(
  value: JsonValue | undefined,
  tool: OfferedTool | undefined,
): JsonObject {
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  if (typeof value === 'string') return argumentsInText(value, tool, { isQuoted: true });
  if (Array.isArray(value) && value.length === 0) return {};
  return namedFor(tool, value) ?? refuseUnnamed(tool);
}

function namedFor(tool: OfferedTool | undefined, value: JsonValue): JsonObject | undefined {
  if (tool === undefined) return { input: value };
  const only = onlyArgument(tool, value);
  return only && { [only.name]: value };
}

function refuseUnnamed(tool: OfferedTool | undefined): never {
  const names = tool?.arguments.map(({ name }) => name).join(', ') ?? '';
  throw new ReadProblem(
    names === ''
      ? `"${tool?.name}" takes no arguments`
      : `the arguments have no names ("${tool?.name}" takes ${names})`,
  );
}

/**
 * Reads arguments that stand where an object was expected: an object, pairs such as `q="moon"`, or
 * the plain value of the only argument.
 * @param isQuoted true for the content of a string: quotes within it belong to the value
 * @throws ReadProblem
 */
export function argumentsInText(
  written: string,
  tool: OfferedTool | undefined,
  {
    isCut = false,
    isQuoted = false,
  }: { readonly isCut?: boolean; readonly isQuoted?: boolean } = {},
): JsonObject {
  const text = written.trim();
  if (text === '' && (isCut || tool?.arguments.some(({ isRequired }) => isRequired) === true))
    throw new ReadProblem('the arguments are missing');
  if (text === '' || /^(?:none|null|n\/a)$/i.test(text)) return {};
  if (text.startsWith('{')) return objectIn(text, tool, isCut);
  if (isCut) throw new ReadProblem('the arguments are cut off');
  const named = /^["']?([\w-]{1,100})["']?\s{0,5}[:=](?!=)/.exec(text)?.[1];
  if (named !== undefined && tool?.arguments.some(({ name }) => name === named) === true)
    return pairsIn(text);
  const value = isQuoted ? undefined : wholeValue(text);
  if (!isQuoted && value === undefined && /^["'`[]/.test(text)) refuseUnnamed(tool);
  if (typeof value === 'string') return namedFor(tool, value) ?? refuseUnnamed(tool);
  const asText = namedFor(tool, isQuoted ? written : text);
  return asText ?? (value === undefined ? undefined : namedFor(tool, value)) ?? refuseUnnamed(tool);
}

function objectIn(text: string, tool: OfferedTool | undefined, isCut: boolean): JsonObject {
  const reader = new LiteralReader(text, 0, { isCut });
  const value = reader.value() as JsonObject;
  reader.match(/[\s}`]*/y);
  if (reader.at < text.length) reader.refuse('only one object was expected, but text follows');
  const isText = tool !== undefined && onlyArgument(tool, text) !== undefined;
  const isMeant = Object.keys(value).every((key) =>
    tool?.arguments.some(({ name }) => name === key),
  );
  if (isText && !isMeant)
    throw new ReadProblem(`"${tool.name}" takes "${tool.arguments[0]?.name}", which was not named`);
  return value;
}

/**
 * Refuses arguments of a text that lacks its last brackets when it lacks arguments, too.
 * @throws ReadProblem
 */
export function assertComplete(
  { isCompleted }: LiteralReader,
  tool: OfferedTool | undefined,
  args: JsonObject,
): void {
  const missing = tool?.arguments.find(
    ({ name, isRequired }) => isRequired && !Object.hasOwn(args, name),
  );
  if (isCompleted && missing !== undefined)
    throw new ReadProblem(`it ends without "}" and without the argument "${missing.name}"`);
}

/** The string, number or other value that a text is as a whole. */
function wholeValue(text: string): JsonValue | undefined {
  const read = reading(() => {
    const reader = new LiteralReader(text, 0, { words: false });
    const value = reader.value();
    reader.skip();
    return reader.at === text.length ? value : undefined;
  });
  return 'value' in read ? read.value : undefined;
}

function pairsIn(text: string): JsonObject {
  const reader = new LiteralReader(`${text})`);
  const { named, positional } = pairs(reader);
  reader.skip();
  if (positional.length > 0 || reader.at < reader.text.length)
    throw new ReadProblem('the arguments are neither JSON nor pairs such as name="value"');
  return named;
}

interface Pairs {
  readonly named: JsonObject;
  readonly positional: readonly JsonValue[];
}

const pairName = /["']?[A-Za-z_][\w-]*["']?\s*(?:=(?!=)|:)/y;

/**
 * Reads the arguments of a function call up to its closing bracket: `q="moon", limit=3)`.
 * @throws ReadProblem
 */
export function pairs(reader: LiteralReader): Pairs {
  return reader.withoutWords(() => pairsAt(reader));
}

function pairsAt(reader: LiteralReader): Pairs {
  const named = new Map<string, JsonValue>();
  const positional: JsonValue[] = [];
  for (;;) {
    reader.skip();
    if (reader.takes(')')) return { named: Object.fromEntries(named), positional };
    if (reader.at >= reader.text.length) reader.refuse('")" is missing');
    const at = reader.at;
    const key = reader.match(pairName)?.replaceAll(/["'\s=:]/g, '');
    if (key !== undefined && (named.has(key) || key === '__proto__'))
      reader.refuse(`"${key}" is given twice, again`, at);
    if (key === undefined) positional.push(reader.value());
    else named.set(key, reader.value());
    reader.skip();
    if (!reader.takes(',') && reader.text[reader.at] !== ')')
      reader.refuse('a comma or ")" was expected');
  }
}

/**
 * The arguments of `name(…)`: pairs, one object, or one value for the only argument.
 * @throws ReadProblem
 */
export function argumentsOfPairs(
  { named, positional }: Pairs,
  tool: OfferedTool | undefined,
): JsonObject {
  const [first, ...others] = positional;
  if (first === undefined) return named;
  if (others.length > 0 || Object.keys(named).length > 0) return refuseUnnamed(tool);
  return isRecord(first) ? first : (namedFor(tool, first) ?? refuseUnnamed(tool));
}
