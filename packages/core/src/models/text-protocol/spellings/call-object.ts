import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { argumentsOf } from './call-arguments.ts';
import { isRecord, type OfferedTool, type OfferedTools } from './offered-tools.ts';
import { ReadProblem } from './read-problem.ts';

export type Action =
  | { readonly type: 'call'; readonly tool: string /** JSON. */; readonly input: string }
  | { readonly type: 'answer'; readonly text: string };

const nameKeys = ['tool', 'action', 'tool_name', 'name', 'function', 'function_name', 'toolName'];
const argumentKeys = [
  'arguments',
  'args',
  'action_input',
  'tool_input',
  'input',
  'parameters',
  'params',
  'argument',
  'tool_args',
  'tool_arguments',
  'kwargs',
];
const wrapperKeys = ['tool_calls', 'tool_call', 'function_call', 'actions', 'calls', ...nameKeys];
/** Members beside a call that say nothing of it. */
const remarkKeys: ReadonlySet<string> = new Set([
  'thought',
  'thoughts',
  'reasoning',
  'explanation',
  'comment',
  'id',
  'call_id',
  'type',
  'index',
  'role',
  'content',
]);

export function callOf(
  tool: OfferedTool | undefined,
  written: string,
  args: JsonObject,
): Extract<Action, { type: 'call' }> {
  return { type: 'call', tool: tool?.name ?? written.trim(), input: JSON.stringify(args) };
}

/** True for the name that some models give to their answer, as if it were a tool. */
export function isFinalAnswer(name: string): boolean {
  return /^\s*final[ _-]?answer\s*$/i.test(name);
}

/**
 * The calls that an object stands for, or a list of objects: with `tool` and `arguments`, or in one
 * of the other common spellings.
 * @param isMarked true where a marker says that it is a call. Elsewhere it may be the answer, so a
 * spelling that is not common in answers is required.
 * @throws ReadProblem
 */
export function callsOf(value: JsonValue, tools: OfferedTools, isMarked: boolean): Action[] {
  if (Array.isArray(value)) {
    if (value.length === 0) throw new ReadProblem('the list of calls is empty');
    return value.flatMap((one: JsonValue) => callsOf(one, tools, isMarked));
  }
  if (!isRecord(value)) throw new ReadProblem('it is not an object');
  const inner = wrapperKeys.find(
    (key) => typeof own(value, key) === 'object' && value[key] !== null,
  );
  const names = nameKeys.filter((key) => typeof own(value, key) === 'string');
  if (names.length === 0 && inner !== undefined && !hasArguments(value))
    return callsOf(value[inner] as JsonValue, tools, isMarked);
  return [
    names.length === 0 ? unnamed(value, tools, isMarked) : named(value, names, tools, isMarked),
  ];
}

function hasArguments(object: JsonObject): boolean {
  return argumentKeys.some((key) => Object.hasOwn(object, key));
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** `{ "calc": { … } }` and `{ "final_answer": … }`. */
function unnamed(object: JsonObject, tools: OfferedTools, isMarked: boolean): Action {
  const [key, ...others] = Object.keys(object);
  const value = key === undefined ? undefined : object[key];
  if (key !== undefined && others.length === 0 && isMarked) {
    if (isFinalAnswer(key)) return { type: 'answer', text: textOf(value) };
    const tool = tools.find(key);
    if (tool !== undefined) return callOf(tool, key, argumentsOf(value, tool));
  }
  throw new ReadProblem('it names no tool');
}

function named(
  object: JsonObject,
  names: readonly string[],
  tools: OfferedTools,
  isMarked: boolean,
): Action {
  const known = names.filter((key) => tools.find(object[key] as string) !== undefined);
  if (new Set(known.map((key) => tools.find(object[key] as string)?.name)).size > 1)
    throw new ReadProblem(`"${known[0]}" and "${known[1]}" name different tools`);
  const nameKey = (known[0] ?? names[0]) as string;
  const written = object[nameKey] as string;
  if (written.trim() === '') throw new ReadProblem('the name of the tool is empty');
  const tool = tools.find(written);
  const declared = new Set(tool?.arguments.map(({ name }) => name));
  const keys = argumentKeys.filter(
    (key) => key !== nameKey && Object.hasOwn(object, key) && !isFlat(object[key], key, declared),
  );
  if (keys.length > 1)
    throw new ReadProblem(`"${keys[0]}" and "${keys[1]}" are both given: one is enough`);
  const [key] = keys;
  if (isFinalAnswer(written)) return { type: 'answer', text: textOf(key && object[key]) };
  if (key === undefined && !isMarked && nameKey === 'name')
    throw new ReadProblem('it has no "arguments"');
  const others = Object.keys(object).filter((other) => other !== nameKey && other !== key);
  if (key === undefined)
    return callOf(tool, written, flatArguments(object, others, tool, declared));
  const args = argumentsOf(object[key], tool);
  const beside = others.find(
    (other) =>
      declared.has(other) &&
      !Object.hasOwn(args, other) &&
      !(other === 'type' && object[other] === 'function'),
  );
  if (beside !== undefined)
    throw new ReadProblem(`"${beside}" must stand within "${key}", not beside it`);
  return callOf(tool, written, args);
}

/** True when a member with the name of the arguments is an argument itself. */
function isFlat(value: JsonValue | undefined, key: string, declared: ReadonlySet<string>): boolean {
  if (!declared.has(key)) return false;
  return !isRecord(value) || !Object.keys(value).every((name) => declared.has(name));
}

function flatArguments(
  object: JsonObject,
  others: readonly string[],
  tool: OfferedTool | undefined,
  declared: ReadonlySet<string>,
): JsonObject {
  const given = others.filter((key) =>
    tool === undefined ? !remarkKeys.has(key) : declared.has(key),
  );
  const stray = others.find((key) => !given.includes(key) && !remarkKeys.has(key));
  if (stray !== undefined) throw new ReadProblem(`it has "${stray}", but no "arguments"`);
  return Object.fromEntries(given.map((key) => [key, object[key]]));
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
