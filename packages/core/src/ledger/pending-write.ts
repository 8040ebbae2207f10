import type { JsonValue } from '../base/json.ts';
import type { SharedWrite } from './port.ts';

/** A version that no key has. */
export const noVersion = -1;

/**
 * Makes a value from the present one. @throws InvalidStateError, NotJsonError, or what the code
 * throws that does it
 */
export type ChangeValue = (value: JsonValue | undefined) => JsonValue | undefined;

/** What a session knows of a stored key. */
export interface KnownKey {
  readonly version: number;
  readonly exists: boolean;
  /** The value of a write that is on its way, perhaps not even in the ledger yet. */
  readonly drafted?: { readonly value: JsonValue | undefined };
}

/**
 * A shared write on its way to the store, and what is to be done when another session has changed
 * the key meanwhile.
 */
export interface PendingWrite {
  readonly write: SharedWrite;
  /** Makes the value anew on top of another one; missing: the write is refused. */
  readonly again?: ChangeValue | undefined;
  /**
   * Takes note of what the key is like after the write that took the place of this one;
   * `undefined`: it was refused.
   */
  readonly replaced: (now: KnownKey | undefined) => void;
}
