import type { JsonObject, JsonValue } from '../base/json.ts';

/** Input that a call or a question waits for. */
export interface AskedInput {
  /** JSON Schema of the input. */
  readonly schema: JsonObject;
  readonly fits: (input: JsonValue) => Promise<boolean>;
}

/** Input that was read from a message. */
export interface MessageInput {
  readonly input: JsonValue;
  /** True when the message is JSON with members, or names the fields that it gives. */
  readonly isExplicit: boolean;
}

type Properties = Readonly<Record<string, JsonObject>>;

/**
 * Reads a message as the input that is asked for: as JSON, as fields (`name: Ann`), as a text, a
 * number or a flag, or as the only field that is needed. `undefined` when none of these fits.
 */
export async function readMessageInput(
  { schema, fits }: AskedInput,
  message: string,
): Promise<MessageInput | undefined> {
  const text = message.trim();
  if (text === '') return undefined;
  for (const reading of readings(message, text, schema))
    if (await fits(reading.input)) return reading;
  return undefined;
}

function* readings(message: string, text: string, schema: JsonObject): Generator<MessageInput> {
  const json = parsed(text);
  if (typeof json === 'object' && json !== null) yield { input: json, isExplicit: true };
  const properties = (schema['properties'] ?? {}) as Properties;
  const fields = fieldsOf(text, properties);
  if (fields !== undefined) yield { input: fields, isExplicit: true };
  const values = [message, text, ...(json === undefined ? [] : [json]), ...flagOf(text)];
  for (const input of values) yield { input, isExplicit: false };
  const only = onlyField(schema, properties);
  if (only === undefined) return;
  for (const value of values) yield { input: { [only]: value }, isExplicit: false };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function flagOf(text: string): boolean[] {
  const word = text.toLowerCase();
  if (word === 'yes') return [true];
  return word === 'no' ? [false] : [];
}

/** Name of the field that alone must be given; `undefined` when there is not just one. */
function onlyField(schema: JsonObject, properties: Properties): string | undefined {
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const needed = required.length > 0 ? required : Object.keys(properties);
  return needed.length === 1 ? needed[0] : undefined;
}

/**
 * Fields of a message that consists of them, one in a line or behind a comma or semicolon.
 * `undefined` when it has anything else, or a field twice.
 */
function fieldsOf(text: string, properties: Properties): JsonObject | undefined {
  const names = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  if (names.size === 0) return undefined;
  const spelled = [...names.keys()]
    .sort((one, other) => other.length - one.length)
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const beginning = new RegExp(`(?:^|[\\n;,])[ \\t]*(${spelled.join('|')})[ \\t]*[:=]`, 'giu');
  const found = [...text.matchAll(beginning)];
  if (found[0]?.index !== 0) return undefined;
  const fields = new Map<string, JsonValue>();
  for (const [at, match] of found.entries()) {
    const name = names.get(match[1]?.toLowerCase() ?? '') as string;
    if (fields.has(name)) return undefined;
    const value = text.slice(match.index + match[0].length, found[at + 1]?.index).trim();
    fields.set(name, fieldValue(value, properties[name]));
  }
  return Object.fromEntries(fields);
}

/** Value of a field: the text, unless the schema asks for something else than texts. */
function fieldValue(text: string, schema: JsonObject | undefined): JsonValue {
  const types = [schema?.['type']].flat();
  if (types.includes('string')) return text;
  if (types.includes('boolean')) return flagOf(text)[0] ?? parsed(text) ?? text;
  return parsed(text) ?? text;
}
