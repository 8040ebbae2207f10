import type { JsonObject, JsonValue } from '../../base/json.ts';
import { findJson, findStrictJson } from '../json-text.ts';

/**
 * The name of the call that an action becomes when it names no tool; what the model wrote is then
 * its argument `text`.
 */
export const unreadableAction = 'unreadable_action';

export type Action =
  | {
      readonly type: 'call';
      readonly tool: string /** JSON, or what was written when it is none. */;
      readonly input: string;
    }
  | { readonly type: 'answer'; readonly text: string };

/**
 * Returns the calls in the text behind `Action:`: an object or a list of them with `tool` and
 * `arguments`, or with `action` and `args` or `action_input`; or a tool's name with `Action Input:`
 * below it. Unreadable text becomes a call with the text as its input, so that the model gets an
 * answer to it. With `isCut` nothing is repaired: arguments that were cut off must not be completed
 * by guessing.
 */
export async function readActions(text: string, isCut: boolean): Promise<readonly Action[]> {
  const written = text.trim();
  const named =
    /^[`*"]{0,3}([\w.-]{1,100})[`*"]{0,3}[ \t]{0,20}\n\s{0,20}Action Input:([\s\S]*)$/i.exec(
      written,
    );
  const [, tool, args] = named ?? [];
  if (tool !== undefined && args !== undefined) {
    const value = await read(args, isCut);
    return [
      { type: 'call', tool, input: value === undefined ? args.trim() : JSON.stringify(value) },
    ];
  }
  const value = await read(written, isCut);
  const actions = (Array.isArray(value) ? value : [value]).map(toAction);
  const readable = actions.filter((action) => action !== undefined);
  if (readable.length === actions.length && readable.length > 0) return readable;
  const meant = nameIn(written);
  // As an argument, because the prompts of later rounds show arguments only when they are JSON.
  return [
    meant === undefined
      ? { type: 'call', tool: unreadableAction, input: JSON.stringify({ text: written }) }
      : { type: 'call', tool: meant, input: written },
  ];
}

function read(
  text: string,
  isCut: boolean,
): Promise<JsonValue | undefined> | JsonValue | undefined {
  return isCut ? findStrictJson(text) : findJson(text);
}

/** The calls in a text that has no marker, when all of it is calls of tools that there are. */
export async function readBareActions(
  text: string,
  tools: ReadonlySet<string>,
  isCut: boolean,
): Promise<readonly Action[] | undefined> {
  const value = text === '' ? undefined : await read(text, isCut);
  if (value === undefined) return undefined;
  const actions = (Array.isArray(value) ? value : [value]).map(toAction);
  const areCalls =
    actions.length > 0 &&
    actions.every(
      (action) => action !== undefined && (action.type === 'answer' || tools.has(action.tool)),
    );
  return areCalls ? (actions as readonly Action[]) : undefined;
}

function toAction(value: JsonValue | undefined): Action | undefined {
  if (!isRecord(value)) return undefined;
  const tool = firstOf(value, ['tool', 'action', 'tool_name', 'name']);
  if (typeof tool !== 'string' || tool.trim() === '') return undefined;
  const args =
    firstOf(value, ['arguments', 'args', 'action_input', 'tool_input', 'input', 'parameters']) ??
    {};
  if (/^final[ _]?answer$/i.test(tool.trim()))
    return { type: 'answer', text: typeof args === 'string' ? args : JSON.stringify(args) };
  return {
    type: 'call',
    tool: tool.trim(),
    input: JSON.stringify(typeof args === 'string' ? (findStrictJson(args) ?? args) : args),
  };
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf(object: JsonObject, names: readonly string[]): JsonValue | undefined {
  const name = names.find((candidate) => Object.hasOwn(object, candidate));
  return name === undefined ? undefined : object[name];
}

/** The tool that a text which is no JSON seems to mean. */
function nameIn(text: string): string | undefined {
  return /["'“]?\b(?:tool|action)["'”]?\s{0,5}[:=]\s{0,5}["'“]([\w.-]{1,100})["'”]/i.exec(
    text,
  )?.[1];
}
