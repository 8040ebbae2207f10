import type { JsonValue } from '../../base/json.ts';
import type { StateChange } from '../../ledger/event.ts';
import type { Operation } from './key-writes.ts';
import { keyName, type SentWrite } from './write-record.ts';

/** A write that has not landed yet. */
export interface Waiting extends Operation {
  readonly scope: string;
  readonly key: string;
  /** Value that the code replaced, as far as it knew. */
  readonly saw: JsonValue | undefined;
  /** Place of what others wrote to the key and the body had been shown last; 0: nothing. */
  readonly after: number;
  /** The tool calls whose hooks have written it. */
  readonly calls: readonly string[];
}

/** Writes of a scope that are given out to be appended. */
export interface Given {
  readonly waiting: readonly Waiting[];
  readonly landing: readonly Landing[];
  readonly isLast: boolean;
  readonly flush: string | undefined;
}

/** A write as it is to be recorded; without `calls` a correction. */
export interface Landing
  extends Pick<Waiting, 'key' | 'kind' | 'apply' | 'id' | 'source' | 'after' | 'value'> {
  readonly calls?: readonly string[];
  readonly oldValue: JsonValue | undefined;
  readonly newValue: JsonValue | undefined;
  /** True if the code knew another value: the store refuses the write, or has it made again. */
  readonly isStale: boolean;
}

export function changeOf({
  key,
  kind,
  id,
  source,
  after,
  oldValue,
  newValue,
}: Landing): StateChange {
  return {
    key,
    op: kind,
    ...(id === undefined ? {} : { id }),
    ...(source === undefined ? {} : { source }),
    ...(after === 0 ? {} : { after }),
    ...(oldValue === undefined ? {} : { oldValue }),
    ...(newValue === undefined ? {} : { newValue }),
  };
}

/**
 * An update applied to the value that is there.
 * @param otherwise what it gave before, or whether it may be refused, when it cannot be applied now
 * @returns `undefined`: it is to be refused
 * @throws what the function throws
 */
export function madeOf(
  { apply }: Waiting,
  value: JsonValue | undefined,
  otherwise: Landing | boolean,
): { readonly value: JsonValue | undefined } | undefined {
  try {
    return { value: apply?.(value) };
  } catch (error) {
    if (otherwise === false) throw error;
    return otherwise === true ? undefined : { value: otherwise.newValue };
  }
}

export function namesOf(scope: string, landing: readonly Landing[]): SentWrite[] {
  return landing.map(({ key, calls }) => ({
    name: keyName(scope, key),
    isCorrection: calls === undefined,
  }));
}
