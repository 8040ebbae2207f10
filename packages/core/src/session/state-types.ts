import type { StandardSchemaV1 } from '@standard-schema/spec';

/**
 * Types of the state of each scope, by key, as Standard Schemas (zod and others). `session` belongs
 * to one session; every other name is a shared scope; `temp` needs no declaration.
 */
export interface StateSchema {
  readonly [scope: string]: { readonly [key: string]: StandardSchemaV1 };
}

/** Options of an update. */
export interface UpdateOptions {
  /**
   * Name of the update among those of its key in one body. A body that runs again finds the
   * recorded update by it, even when other code runs beside it.
   */
  readonly id?: string;
}

type Fields<Scope> = Scope extends { readonly [key: string]: StandardSchemaV1 }
  ? { -readonly [Key in keyof Scope]?: StandardSchemaV1.InferOutput<Scope[Key]> | undefined }
  : Record<never, never>;

interface Updatable<Values> {
  /**
   * Changes several keys with one event; a key set to `undefined` is deleted. With a key and a
   * function, the function gets the present value and returns the new one. In a shared scope, the
   * value may change before the write lands. The function is then called again with the present
   * value, up to 5 times, so it must depend on nothing else. In a body that does several things at
   * once, updates of one key must give the same in any order, or have an `id`.
   */
  update(changes: { [Key in keyof Values]?: Values[Key] | undefined }): void;
  update<Key extends keyof Values & string>(
    key: Key,
    change: (value: Values[Key] | undefined) => Values[Key] | undefined,
    options?: UpdateOptions,
  ): void;
}

export type ScopeState<Scope> = Fields<Scope> & Updatable<Fields<Scope>>;

interface Refreshable {
  /**
   * Reads the shared scopes again and records the changes of others since the last read.
   * @throws StoreUnavailableError
   * @throws InvalidKeyError when the key is empty or has one of `/ # ~ >`
   */
  refresh(options?: RefreshOptions): Promise<void>;
}

export interface RefreshOptions {
  /**
   * Name of the refresh among those of the body, so that it reads the same when the body runs
   * again. Required where several branches refresh at once. Without keys, their order tells them
   * apart, and it may change.
   */
  readonly key?: string;
}

/** State of a session without a schema: every value is `unknown` until it is checked. */
export interface UntypedState extends Updatable<Record<string, unknown>>, Refreshable {
  temp: Record<string, unknown>;
  [key: string]: unknown;
}

/**
 * State by property: session scope directly, other scopes under their name, `temp` for values that
 * need not be recorded. Setting a key to `undefined` deletes it; values must be JSON.
 */
export type StateOf<Schema extends StateSchema> = string extends keyof Schema
  ? UntypedState
  : ScopeState<Schema['session']> &
      Refreshable & {
        readonly [Scope in Exclude<keyof Schema, 'session' | 'temp'>]: ScopeState<Schema[Scope]>;
      } & {
        temp: Record<string, unknown>;
      };

/**
 * Readable values of a state: those of the session by their keys, those of other scopes under the
 * name of the scope.
 */
export type StateValuesOf<Schema extends StateSchema> = Readonly<Fields<Schema['session']>> & {
  readonly [Scope in Exclude<keyof Schema, 'session' | 'temp'>]: Readonly<Fields<Schema[Scope]>>;
};
