const inspect = Symbol.for('nodejs.util.inspect.custom');

/** All secrets of this process that are still in use. Exports are searched for them. */
const made = new Set<WeakRef<Secret>>();
const forgotten = new FinalizationRegistry<WeakRef<Secret>>((reference) => made.delete(reference));

/** A value that shows its name and never itself: in JSON, in text, in logs and so in the ledger. */
export class Secret {
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
    const reference = new WeakRef(this);
    made.add(reference);
    forgotten.register(this, reference);
  }

  /** The value, for the one place that needs it. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): { readonly $secret: string } {
    return { $secret: this.name };
  }

  toString(): string {
    return `[secret ${this.name}]`;
  }

  [inspect](): string {
    return this.toString();
  }
}

/**
 * Wraps a value that must not be shown. A tool result with it is recorded with `{ $secret: name }`
 * in its place; state refuses it.
 */
export function secret(name: string, value: string): Secret {
  return new Secret(name, value);
}

/** The secrets that this process has made and still holds. */
export function secretsInUse(): readonly Secret[] {
  return [...made].flatMap((reference) => reference.deref() ?? []);
}
