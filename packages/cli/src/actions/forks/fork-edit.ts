import type { ForkOptions, JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import { UsageError } from '../../failure.ts';
import { givenJson } from '../given-value.ts';

type ForkEdit = NonNullable<ForkOptions['edit']>;
type StateEdit = NonNullable<ForkEdit['state']>[number];

/** Edits of a fork as they were typed. */
interface TypedEdits {
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
  readonly agent?: string;
  readonly instructions?: string;
  readonly message?: string;
}

/**
 * Returns the edits of a fork; `undefined` when there are none.
 * @throws UsageError
 */
export function forkEdit({
  set = [],
  unset = [],
  agent,
  instructions,
  message,
}: TypedEdits): ForkEdit | undefined {
  if (agent !== undefined && instructions === undefined)
    throw new UsageError({ reason: '--agent names whose --instructions are edited: give them.' });
  const state = [
    ...set.map(setting),
    ...unset.map((text): StateEdit => ({ ...place(text), delete: true })),
  ];
  const isPrompt = instructions !== undefined || message !== undefined;
  if (state.length === 0 && !isPrompt) return undefined;
  return {
    ...(state.length === 0 ? {} : { state }),
    ...(isPrompt ? { prompt: defined({ agent, instructions, message }) } : {}),
  };
}

/** @throws UsageError */
function setting(text: string): StateEdit {
  const end = text.indexOf('=');
  if (end <= 0)
    throw new UsageError({
      reason: `--set ${text}: it must be a key and a value, such as mood=good or user:theme=dark.`,
    });
  return { ...place(text.slice(0, end)), value: valueIn(text.slice(end + 1)) };
}

/** Returns the scope and the key that a text names. Without a scope the key is of the session. */
function place(text: string): { readonly scope?: string; readonly key: string } {
  const [, scope, key = text] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  return { key, ...defined({ scope }) };
}

/** Returns a value as JSON, or as the text itself. A slip in an object or list is no text. */
function valueIn(text: string): JsonValue {
  if (/^\s*[{["]/.test(text)) return givenJson(text);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
