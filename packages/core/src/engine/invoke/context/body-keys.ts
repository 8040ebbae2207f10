import { readsLikeCall } from '../../../ledger/effect-id.ts';
import type { InvocationInput } from '../../../ledger/event.ts';
import { InvalidKeyError } from '../../frame/errors.ts';
import type { Invokable } from '../../frame/invocation.ts';
import { inputHash } from '../recorded-slot.ts';

const ownKeys =
  'Each call, question, sleep and effect of a body has a key of its own; in a loop, add its ' +
  'number: "colour 2"';

/** Keys of the children and effects that one execution of a body has asked for. */
export class BodyKeys {
  readonly #counts = new Map<string, number>();
  readonly #effects = new Set<string>();

  /** True when an effect has this key. */
  isOfEffect(key: string): boolean {
    return this.#effects.has(key);
  }

  /** @throws InvalidKeyError when the key cannot name an effect, or is taken */
  claimForEffect(key: string): void {
    assertKey(key);
    if (readsLikeCall(key))
      throw new InvalidKeyError({ key, reason: 'it reads like the call of a tool' });
    if (this.#counts.has(key))
      throw new InvalidKeyError({
        key,
        reason: `it names another child or effect of the same body already. ${ownKeys}`,
      });
    this.#counts.set(key, 1);
    this.#effects.add(key);
  }

  /**
   * Returns the key of a child. Without one of its own it is made of the name and the input, and
   * equal ones are numbered.
   * @throws InvalidKeyError when a given key cannot name a child, or is taken
   */
  claimForChild(
    runnable: Invokable,
    input: InvocationInput | undefined,
    key: string | undefined,
  ): string {
    if (key !== undefined) assertKey(key);
    const base =
      key ?? (input === undefined ? runnable.name : `${runnable.name}#${inputHash(input)}`);
    if (this.#effects.has(base))
      throw new InvalidKeyError({
        key: base,
        reason: `it names an effect of the same body already. ${ownKeys}`,
      });
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    if (count === 1) return base;
    if (key !== undefined)
      throw new InvalidKeyError({
        key,
        reason: `it names another child of the same body already. ${ownKeys}`,
      });
    // No name or key has this mark, so a numbered name never equals another one.
    return `${base}#${count}`;
  }
}

/** @throws InvalidKeyError when a text cannot be a key */
export function assertKey(key: string): void {
  if (typeof key !== 'string' || key === '' || /[/#~>]/.test(key)) {
    throw new InvalidKeyError({
      key: String(key),
      reason: 'a key is not empty and has none of / # ~ >',
    });
  }
}
