import { defined } from '../base/defined.ts';
import { isPlainObject, type JsonValue, setOwn } from '../base/json.ts';
import { isSensitiveKey } from '../base/text/sensitive-keys.ts';
import { escapePattern, type KnownValues, shortestAnywhere } from './known-values.ts';
import type { RedactionRules } from './redaction-rules.ts';
import { findSecrets } from './secret-patterns.ts';

/** Where a value stands. */
export interface ValuePlace {
  /** The keys above it; places in lists do not count. */
  readonly keys: readonly string[];
  /** The rule that takes out everything here. */
  readonly rule?: string;
  /** Names and ids: they lose what is long enough to be told from their own words. */
  readonly isName?: boolean;
  /** In a JSON Schema keys name what values are to be, and have none. */
  readonly isSchema?: boolean;
  /** A prompt, whose messages have keys of their own. */
  readonly isPrompt?: boolean;
}

/** A value in a text. */
interface FoundValue {
  readonly from: number;
  readonly to: number;
  readonly rule: string;
}

/**
 * Finds a member of JSON within a text, also of JSON within JSON: its value as a text, quoted or
 * escaped, or as a number.
 */
function memberNamed(key: string): RegExp {
  const name = escapePattern(key);
  const colon = String.raw`\s{0,9}:\s{0,9}`;
  const value = String.raw`(?:"((?:[^"\\]|\\.){1,20000})"|(-?\d[\d.eE+-]{0,40}))`;
  const escaped = String.raw`\\"${name}\\"${colon}\\"([^"\\]{1,20000})\\"`;
  return new RegExp(`"${name}"${colon}${value}|${escaped}`, 'gi');
}

const longestJsonText = 20_000_000;
const shortestSpreadNumber = 4;

/**
 * Takes out of JSON values what rules name. First everything is learned, so that a value is found
 * wherever it stands.
 */
export class Redactor {
  readonly #rules: RedactionRules;
  readonly #known: KnownValues;
  readonly #fields: readonly {
    readonly rule: string;
    readonly path: readonly string[];
    readonly member: RegExp;
  }[];
  #isLearning = false;

  constructor(rules: RedactionRules, known: KnownValues) {
    this.#rules = rules;
    this.#known = known;
    this.#fields = rules.fields.map((field) => {
      const path = field.toLowerCase().split('.');
      return { rule: `field ${field}`, path, member: memberNamed(path.at(-1) ?? '') };
    });
  }

  /** Runs what redacts, and only remembers what it finds. */
  learn(redact: () => unknown): void {
    this.#isLearning = true;
    try {
      redact();
    } finally {
      this.#isLearning = false;
    }
  }

  /** The value itself when nothing has to be taken out. */
  redact(value: JsonValue | undefined, place: ValuePlace): JsonValue | undefined {
    if (typeof value === 'string') return this.#text(value, place);
    if (typeof value === 'number') return this.#number(value, place);
    if (typeof value === 'boolean')
      return place.rule?.startsWith('field ')
        ? this.#whole(String(value), place.rule, false)
        : value;
    if (value === null || value === undefined) return value;
    return Array.isArray(value) ? this.#list(value, place) : this.#object(value as Members, place);
  }

  #text(text: string, place: ValuePlace): string {
    if (text === '' || this.#known.isReplacement(text)) return text;
    if (place.rule !== undefined) return this.#whole(text, place.rule, true);
    const isName = place.isName === true;
    const inner = isName ? text : this.#inJson(text, place);
    return this.#patterns(this.#isLearning ? inner : this.#known.replaceIn(inner, !isName));
  }

  /** All of a text goes; what a header has behind its scheme is looked for as well. */
  #whole(text: string, rule: string, spread: boolean): string {
    if (!this.#isLearning) return this.#known.replacementOf(text, rule);
    this.#learn(text, rule, spread);
    return text;
  }

  #learn(text: string, rule: string, spread: boolean): void {
    this.#known.add(text, rule, spread);
    if (spread) for (const part of partsOf(text)) this.#known.add(part, rule, true);
  }

  #number(value: number, place: ValuePlace): JsonValue {
    if (place.rule !== undefined) {
      if (!this.#isLearning) return this.#known.numberFor(value, place.rule);
      this.#known.add(value, place.rule, String(value).length >= shortestSpreadNumber);
      return value;
    }
    return this.#isLearning || place.isName === true
      ? value
      : (this.#known.replacedNumber(value) ?? value);
  }

  /** A text that is JSON loses what its keys name. */
  #inJson(text: string, place: ValuePlace): string {
    if (!/^\s*[[{]/.test(text) || text.length > longestJsonText) return text;
    let value: JsonValue;
    try {
      value = JSON.parse(text) as JsonValue;
    } catch {
      return text;
    }
    const redacted = this.redact(value, place);
    if (redacted === value) return text;
    const indent = text === JSON.stringify(value, undefined, 2) ? 2 : undefined;
    return JSON.stringify(redacted, undefined, indent);
  }

  #patterns(text: string): string {
    const found = [...findSecrets(text), ...this.#chosen(text)];
    if (found.length === 0) return text;
    let redacted = '';
    let done = 0;
    for (const { from, to, rule } of found.sort((a, b) => a.from - b.from || b.to - a.to)) {
      const value = text.slice(from, to);
      if (from < done || this.#known.isReplacement(value)) continue;
      if (this.#isLearning)
        this.#learn(value, rule, value.length >= shortestAnywhere || rule.startsWith('pattern '));
      else redacted += text.slice(done, from) + this.#inText(value, rule);
      done = to;
    }
    return this.#isLearning ? text : redacted + text.slice(done);
  }

  /**
   * Returns the replacement of a value in a text. A number that stands under a key becomes a
   * number.
   */
  #inText(value: string, rule: string): string {
    return rule.startsWith('field ') && /^-?\d/.test(value) && String(Number(value)) === value
      ? String(this.#known.numberFor(Number(value), rule))
      : this.#known.replacementOf(value, rule);
  }

  /**
   * Finds the matches of chosen patterns, and the values under chosen keys in JSON that is part of
   * a text.
   */
  #chosen(text: string): FoundValue[] {
    const found: FoundValue[] = [];
    for (const pattern of this.#rules.patterns) {
      for (const match of text.matchAll(pattern)) {
        if (match[0] !== '')
          found.push({
            from: match.index,
            to: match.index + match[0].length,
            rule: `pattern ${pattern.source}`,
          });
      }
    }
    if (!text.includes('"')) return found;
    for (const { rule, member } of this.#fields) {
      for (const match of text.matchAll(member)) {
        const value = match[1] ?? match[2] ?? match[3] ?? '';
        const from = match.index + match[0].lastIndexOf(value);
        if (value !== '') found.push({ from, to: from + value.length, rule });
      }
    }
    return found;
  }

  #list(list: readonly JsonValue[], place: ValuePlace): JsonValue {
    const isFlat = place.keys.at(-1)?.toLowerCase() === 'rawheaders';
    const redacted = list.map((part, i) => {
      if (isPair(part) && place.rule === undefined) return this.#pair(part, place);
      const name = isFlat && i % 2 === 1 ? list[i - 1] : undefined;
      return this.redact(
        part,
        typeof name === 'string' ? this.#below(place, name, {}) : place,
      ) as JsonValue;
    });
    return redacted.every((part, i) => part === list[i]) ? list : redacted;
  }

  /** A header as a list of its name and its value. */
  #pair(pair: readonly [string, JsonValue], place: ValuePlace): JsonValue {
    const [name, value] = pair;
    const redacted = [
      this.redact(name, place),
      this.redact(value, this.#below(place, name, {})),
    ] as readonly JsonValue[];
    return redacted[0] === name && redacted[1] === value ? pair : redacted;
  }

  #object(object: Members, place: ValuePlace): JsonValue {
    // The mark of a value that was never recorded.
    if (typeof object['$secret'] === 'string' && Object.keys(object).length === 1) return object;
    const here = isSchema(object, place) ? { keys: place.keys, isSchema: true } : place;
    const redacted: Record<string, JsonValue | undefined> = {};
    let isChanged = false;
    for (const [key, part] of Object.entries(object)) {
      const name = here.isSchema === true ? key : this.#text(key, { keys: [], isName: true });
      const value = this.redact(part, this.#placeIn(object, key, here));
      if (name !== key || value !== part) isChanged = true;
      setOwn(redacted, name, value);
    }
    return isChanged ? (redacted as JsonValue) : object;
  }

  /** The place of what stands below these keys. */
  below(keys: readonly string[]): ValuePlace {
    const rule = this.#ruleOf(keys);
    return rule === undefined ? { keys } : { keys, rule };
  }

  /** The place of a member: the value of something with a name stands under that name. */
  #placeIn(object: Members, key: string, here: ValuePlace): ValuePlace {
    const named = here.isSchema === true ? undefined : nameOf(object);
    // The name of a tool is no word of a text.
    if (here.isSchema === true && key === 'name' && isPlainObject(object['inputSchema']))
      return { keys: here.keys, isName: true };
    if (named === undefined) return this.#below(here, key, object);
    if (valueKeys.has(key)) return this.#below(here, named, object);
    return object[key] === named && here.rule === undefined
      ? { keys: here.keys, isName: true }
      : this.#below(here, key, object);
  }

  /** The place of what stands under a key of an object. */
  #below(place: ValuePlace, key: string, object: Members): ValuePlace {
    const { isPrompt, isName } = place;
    const kept = {
      ...(isPrompt === true ? { isPrompt } : {}),
      ...(isName === true ? { isName } : {}),
    };
    if (isPrompt === true && isPartOfPrompt(object, key)) return { keys: [], ...kept };
    const keys = [...place.keys, key];
    if (place.isSchema === true) {
      const isValue = typeof object[key] !== 'object' && isSensitiveKey(key);
      return isValue ? { keys, rule: 'sensitive_key' } : { keys, isSchema: true };
    }
    const rule = place.rule ?? this.#ruleOf(keys);
    return { keys, ...defined({ rule }), ...kept };
  }

  /** The rule that takes out what stands under these keys. */
  #ruleOf(keys: readonly string[]): string | undefined {
    for (const { rule, path } of this.#fields) {
      if (
        path.length <= keys.length &&
        path.every((part, i) => keys[keys.length - path.length + i]?.toLowerCase() === part)
      )
        return rule;
    }
    return isSensitiveKey(keys.at(-1) ?? '') ? 'sensitive_key' : undefined;
  }
}

type Members = Readonly<Record<string, JsonValue | undefined>>;

/** Checks that a key is one of the members of messages in prompts. */
function isPartOfPrompt({ role, type }: Members, key: string): boolean {
  if (typeof role === 'string') return key === 'role' || key === 'content' || key === 'text';
  return (
    typeof type === 'string' &&
    ['type', 'text', 'toolName', 'toolCallId', 'input', 'output', 'value', 'name'].includes(key)
  );
}

function isPair(part: JsonValue): part is readonly [string, JsonValue] {
  return Array.isArray(part) && part.length === 2 && typeof part[0] === 'string';
}

const valueKeys: ReadonlySet<string> = new Set(['value', 'oldValue', 'newValue']);

/**
 * The name that an object gives to its value: `{ name: 'Authorization', value: '…' }`, a change of
 * state.
 */
function nameOf(object: Members): string | undefined {
  if (!Object.keys(object).some((key) => valueKeys.has(key))) return undefined;
  const name = object['key'] ?? object['name'];
  return typeof name === 'string' ? name : undefined;
}

const schemaTypes: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);
const schemaWords: readonly string[] = ['$ref', 'anyOf', 'oneOf', 'allOf', 'properties', '$schema'];

function isSchema(object: Members, { rule, isSchema: isWithin }: ValuePlace): boolean {
  if (isWithin === true) return true;
  if (isPlainObject(object['properties']) && object['type'] === 'object') return true;
  // The definition of a tool in a prompt.
  if (isPlainObject(object['inputSchema']) && typeof object['name'] === 'string') return true;
  // Where everything else would be taken out, a schema must be told from a value.
  return (
    rule !== undefined &&
    (schemaTypes.has(object['type']) ||
      schemaWords.some((word) => typeof object[word] === 'object')) &&
    !('value' in object)
  );
}

/**
 * The parts of a header that are secrets themselves: what stands behind its scheme, the password in
 * it, the values of cookies.
 */
function partsOf(text: string): readonly string[] {
  const [, scheme = '', rest = ''] =
    /^(bearer|basic|digest|token|apikey)\s+(\S.*)$/is.exec(text) ?? [];
  if (scheme.toLowerCase() === 'basic') {
    const decoded = Buffer.from(rest, 'base64').toString('utf8');
    const password = decoded.slice(decoded.indexOf(':') + 1);
    return /^[\x20-\x7e]+$/.test(decoded) ? [rest, password] : [rest];
  }
  if (rest !== '') return [rest];
  const cookies = /^[^\s=;]+=[^;]*(?:;|$)/.test(text)
    ? text.split(';').map((cookie) => cookie.slice(cookie.indexOf('=') + 1).trim())
    : [];
  return cookies.filter((value) => value.length >= shortestAnywhere);
}
