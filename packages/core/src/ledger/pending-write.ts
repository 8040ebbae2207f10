import type { JsonValue } from '../base/json.ts';
import type { SharedWrite } from './port.ts';

/** A version that no key has. */
export const noVersion = -1;

/**
 * Makes a value from the present one.
 * @throws InvalidStateError, NotJsonError, or the error of the code that makes it
 */
export type ChangeValue = (value: JsonValue | undefined) => JsonValue | undefined;

/** The state of a stored key, as a session knows it. */
export interface KnownKey {
  readonly version: number;
  readonly exists: boolean;
  /** The value of a write on its way, which may not even be in the ledger yet. */
  readonly drafted?: { readonly value: JsonValue | undefined };
}

/**
 * A shared write on its way to the store, and the reactions when another session has changed the
 * key meanwhile.
 */
export interface PendingWrite {
  readonly write: SharedWrite;
  /** Makes the value anew on top of another one; without it the write is refused. */
  readonly again?: ChangeValue | undefined;
  /**
   * Called with the state of the key after the write that replaced this one; `undefined` when it
   * was refused.
   */
  readonly replaced: (now: KnownKey | undefined) => void;
}
