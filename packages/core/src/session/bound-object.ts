import { AdjutantError } from '../base/error.ts';
import { deepFreeze, findJsonDefect, type JsonValue } from '../base/json.ts';
import { NotJsonError } from '../ledger/errors.ts';
import type { StateChange } from '../ledger/event.ts';
import type { SharedValue } from '../ledger/port.ts';

/** Called with each durable write of a bound scope; `undefined` deletes the key. */
export type OnWrite = (key: string, value: JsonValue | undefined) => void | Promise<void>;

/** `onWrite` of a bound scope failed for a write. The write itself is durable. */
export class StateBindingError extends AdjutantError {
  constructor(data: { scope: string; key: string; reason: string }, options?: ErrorOptions) {
    super(
      'state_binding',
      `The write of "${data.key}" to the ${data.scope} state is in the ledger, but ` +
        `\`onWrite\` of its binding failed: ${data.reason}.`,
      data,
      options,
    );
  }
}

/**
 * An object of this process that is a shared scope of a session. A change is written to it when it
 * has become durable, not before.
 */
export class BoundObject {
  readonly #scope: string;
  readonly #target: Record<string, unknown>;
  readonly #onWrite: OnWrite | undefined;
  readonly #onFailure: (error: AdjutantError) => void;
  #told: Promise<void> = Promise.resolve();

  constructor(parts: {
    scope: string;
    target: Record<string, unknown>;
    onWrite: OnWrite | undefined;
    onFailure: (error: AdjutantError) => void;
  }) {
    this.#scope = parts.scope;
    this.#target = parts.target;
    this.#onWrite = parts.onWrite;
    this.#onFailure = parts.onFailure;
  }

  /**
   * Reads the present contents of the object.
   * @throws NotJsonError
   */
  read(): Record<string, SharedValue> {
    const stored: Record<string, SharedValue> = {};
    for (const [key, value] of Object.entries(this.#target)) {
      if (value === undefined) continue;
      const defect = findJsonDefect(value);
      if (defect !== undefined)
        throw new NotJsonError({
          what: `The value for "${key}" of the object bound as ${this.#scope} state`,
          ...defect,
        });
      stored[key] = { value: deepFreeze(structuredClone(value) as JsonValue), version: 1 };
    }
    return stored;
  }

  /** Puts durable changes into the object, and calls `onWrite` for each, one after the other. */
  write(changes: readonly StateChange[]): void {
    for (const { key, newValue } of changes) {
      if (newValue === undefined) delete this.#target[key];
      else this.#target[key] = structuredClone(newValue);
      if (this.#onWrite !== undefined)
        this.#told = this.#told.then(() => this.#tell(key, newValue));
    }
  }

  /** Resolves when `onWrite` has been called for all writes so far. */
  told(): Promise<void> {
    return this.#told;
  }

  async #tell(key: string, value: JsonValue | undefined): Promise<void> {
    try {
      await this.#onWrite?.(key, value);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#onFailure(new StateBindingError({ scope: this.#scope, key, reason }, { cause }));
    }
  }
}
