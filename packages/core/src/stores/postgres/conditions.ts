import { toStorable } from './storable-text.ts';

/** The conditions of a composed statement, with their values. */
export class Conditions {
  readonly #texts: string[] = [];
  readonly values: unknown[] = [];

  /** @param text with `$` in the place of each value */
  add(text: string, ...values: readonly unknown[]): this {
    let used = 0;
    this.#texts.push(
      text.replaceAll('$', () => {
        this.values.push(values[used++]);
        return `$${this.values.length}`;
      }),
    );
    return this;
  }

  /** Adds that a column equals a name, if one is given. */
  equal(column: string, name: string | undefined): this {
    return name === undefined ? this : this.add(`${column} = $`, toStorable(name));
  }

  get text(): string {
    return this.#texts.join(' and ');
  }
}
