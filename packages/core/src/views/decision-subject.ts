import type { JsonObject } from '../base/json.ts';

/** The parts of a sentence about a decision. */
export interface Subject {
  /** The subject of the sentence: `support`, or `The run` where no invocation is named. */
  readonly who: string;
  readonly decision: string;
  readonly data: JsonObject;
}

export type Sentence = (subject: Subject) => string;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(data: JsonObject, ...members: readonly string[]): string | undefined {
  for (const member of members) {
    const value = data[member];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** The tool that a decision is about. */
export function toolOf({ data }: Subject): string {
  const name = textOf(data, 'tool', 'name');
  return name === undefined ? 'a tool' : `the tool ${name}`;
}

/** The name of a decision, as words. */
export const plain = (decision: string): string => decision.replaceAll(/[_-]+/g, ' ');

/** Names of a list, or `nothing`. */
export function namesOf(value: unknown): string {
  return Array.isArray(value) && value.length > 0 ? value.map(String).join(', ') : 'nothing';
}

/** The value of a member that a record has itself. */
export function own<Value>(
  record: Readonly<Record<string, Value>>,
  key: string | undefined,
): Value | undefined {
  return key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Keys of the state that a fork was made with other values of. */
export function editedKeys({ data }: Subject): string {
  const { changes } = data;
  if (!Array.isArray(changes)) return 'nothing';
  return namesOf(
    changes.flatMap((change: unknown) => {
      const { scope, key } = (change ?? {}) as { readonly scope?: unknown; readonly key?: unknown };
      if (key === undefined) return [];
      return scope === 'session' ? [key] : [`${String(scope)}.${String(key)}`];
    }),
  );
}
