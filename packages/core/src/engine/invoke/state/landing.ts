import type { JsonValue } from '../../../base/json.ts';
import type { StateChange } from '../../../ledger/event.ts';
import type { Operation } from './key-writes.ts';
import { keyName, type SentWrite } from './write-record.ts';

/** Write that has not landed yet. */
export interface QueuedWrite extends Operation {
  readonly scope: string;
  readonly key: string;
  /** Value that the code replaced, as far as it knew. */
  readonly saw: JsonValue | undefined;
  /** Place of the last foreign write to the key that the body had been shown; 0: none. */
  readonly after: number;
  /** Ids of the tool calls whose hooks have written it. */
  readonly calls: readonly string[];
}

/** Write as it is to be recorded; without `calls` it is a correction. */
export interface Landing
  extends Pick<QueuedWrite, 'key' | 'kind' | 'apply' | 'id' | 'source' | 'after' | 'value'> {
  readonly calls?: readonly string[];
  readonly oldValue: JsonValue | undefined;
  readonly newValue: JsonValue | undefined;
  /**
   * True if the code knew another value: the store refuses the write, or the update is made again.
   */
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
 * Returns the result of an update applied to the present value.
 * @param otherwise the earlier write, or whether a refusal is allowed, for an update that cannot be
 * applied now
 * @returns `undefined` when the update is to be refused
 * @throws the error of the function when `otherwise` is false
 */
export function madeOf(
  { apply }: QueuedWrite,
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
