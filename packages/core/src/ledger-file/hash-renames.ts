import { contentHash } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import { callFingerprint } from '../effects/tool-call/call-fingerprint.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import { requestIdOf } from '../ledger/folds/request-fold.ts';

/** Beginning of a fingerprint whose source only other code knows. */
export const lostFingerprint = 'redacted ';

/**
 * The hashes that have to change with what they are hashes of: those of contents and inputs are
 * reckoned anew, and those of which only other code knows what they were made from become numbers,
 * because a short value could be guessed from its hash.
 */
export function findRenames(
  before: readonly Event[],
  after: readonly Event[],
): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  const calls = new ChangedCalls(before, after);
  for (const [i, event] of before.entries()) {
    const changed = after[i] as Event;
    if (
      event.type === 'invocation_start' &&
      changed.type === 'invocation_start' &&
      event.input !== changed.input
    ) {
      renames.set(contentHash(event.input), contentHash(changed.input));
    } else if (event.type === 'model_start' && changed.type === 'model_start') {
      const contents = changed.recipe.contents ?? {};
      for (const [hash, content] of Object.entries(event.recipe.contents ?? {})) {
        const redacted = contents[hash] as JsonValue;
        if (redacted !== content) renames.set(hash, contentHash(redacted));
      }
    } else if (
      (event.type === 'tool_attempt' || event.type === 'tool_yield') &&
      event.fingerprint !== undefined &&
      calls.has(event.callId)
    ) {
      renames.set(
        event.fingerprint,
        calls.fingerprint(event) ?? `${lostFingerprint}${renames.size + 1}`,
      );
    }
  }
  return renames;
}

/** Where a ledger lies: what the ids of its questions are made from. */
export interface LedgerPlace {
  readonly app: string;
  readonly tenant: string;
  readonly session: string;
}

/**
 * The ids that the questions of a ledger have where it lies now, or where its calls have new names.
 * Those of another ledger stay: a fork has them.
 */
export function findRequestRenames(
  before: readonly Event[],
  from: LedgerPlace,
  after: readonly Event[],
  to: LedgerPlace,
): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  for (const [i, event] of before.entries()) {
    const changed = after[i] as Event;
    if (event.type !== 'tool_yield' || changed.type !== 'tool_yield') continue;
    const [is, becomes] = [
      requestIdOf(from, { ...from, ...event }),
      requestIdOf(to, { ...to, ...changed }),
    ];
    if (is === event.requestId && is !== becomes) renames.set(hashIn(is), hashIn(becomes));
  }
  return renames;
}

function hashIn(requestId: string): string {
  return requestId.slice(requestId.indexOf('_') + 1);
}

/**
 * The calls whose arguments have changed: those that the model gave, that a tool prepared, or that
 * a person put in their place.
 */
class ChangedCalls {
  readonly #given = new Map<string, { readonly before: JsonValue; readonly after: JsonValue }[]>();
  readonly #tools = new Map<string, string>();

  constructor(before: readonly Event[], after: readonly Event[]) {
    for (const [i, event] of before.entries()) {
      if (event.type === 'tool_call') this.#tools.set(event.callId, event.name);
      const changed = after[i] as Event;
      const given = givenIn(event);
      const left = givenIn(changed);
      if (given === left || given === undefined || left === undefined || !('callId' in event))
        continue;
      const all = this.#given.get(event.callId) ?? [];
      all.push({ before: given, after: left });
      this.#given.set(event.callId, all);
    }
  }

  has(callId: string): boolean {
    return this.#given.has(callId);
  }

  /**
   * The fingerprint that an attempt has with the changed arguments, where it can be told from what
   * it was made.
   */
  fingerprint(event: EventOf<'tool_attempt'> | EventOf<'tool_yield'>): string | undefined {
    if (event.type !== 'tool_attempt') return undefined;
    const tool = event.tool ?? this.#tools.get(event.callId) ?? '';
    const given = this.#given
      .get(event.callId)
      ?.find(({ before }) => callFingerprint(tool, before) === event.fingerprint);
    return given === undefined ? undefined : callFingerprint(tool, given.after);
  }
}

function givenIn(event: Event): JsonValue | undefined {
  switch (event.type) {
    case 'tool_call':
    case 'tool_yield':
      return event.args;
    case 'tool_input':
      return event.input;
    case 'tool_result':
      return event.editedArgs;
    default:
      return undefined;
  }
}

const hash = /[0-9a-f]{20,64}/g;

/**
 * Puts new hashes in the place of old ones, wherever they stand: in recipes, in the paths of
 * invocations.
 */
export function renameHashes<Value>(value: Value, renames: ReadonlyMap<string, string>): Value {
  if (renames.size === 0) return value;
  const renamed = (part: unknown): unknown => {
    if (typeof part === 'string') return part.replace(hash, (found) => renames.get(found) ?? found);
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(renamed);
    return Object.fromEntries(
      Object.entries(part).map(([key, below]) => [renamed(key), renamed(below)]),
    );
  };
  return renamed(value) as Value;
}
