import type { JsonValue } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

export interface StateChange {
  readonly key: string;
  /**
   * Kind of a write of a body: a plain value, or a function of the present value.
   * @default 'set'
   */
  readonly op?: 'set' | 'update';
  /** Name of an update, given by the code. */
  readonly id?: string;
  /** Hash of the text of the function of an update. */
  readonly source?: string;
  /**
   * Sequence number of the last write of others to the key that the body had seen; missing when it
   * had seen none.
   */
  readonly after?: number;
  readonly oldValue?: JsonValue | undefined;
  /** Missing when the key was deleted. */
  readonly newValue?: JsonValue | undefined;
}

export interface StateChangeEvent extends Envelope<'state_change'> {
  readonly scope: string;
  readonly scopeId?: string;
  readonly source: 'mutation' | 'observation';
  readonly changes: readonly StateChange[];
  /** Path of the child with whose start these writes landed. */
  readonly flush?: string;
  /** Id of the tool call whose body wrote it; other calls write under the same path. */
  readonly callId?: string;
  /** Sequence number of the state that the body of a tool started from. */
  readonly base?: number;
  /** The `refresh()` of a body that read this. A body that runs again reads the same there. */
  readonly refresh?: string;
}
