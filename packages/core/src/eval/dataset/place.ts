import { findJsonDefect, isPlainObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { describeValue } from '../../base/options.ts';
import { InvalidDatasetError } from './errors.ts';

/**
 * A place in a document that somebody else wrote: gives what is there, or says what is wrong with
 * it and where.
 */
export class Place {
  readonly value: unknown;
  readonly path: string;
  readonly #source: string;

  constructor(value: unknown, source: string, path = '$') {
    this.value = value;
    this.path = path;
    this.#source = source;
  }

  get isGiven(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get isObject(): boolean {
    return isPlainObject(this.value);
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  /** @throws InvalidDatasetError */
  refuse(reason: string): never {
    throw new InvalidDatasetError({ source: this.#source, path: this.path, reason });
  }

  #mustBe(expected: string): never {
    return this.refuse(
      this.value === undefined
        ? `${expected} is missing`
        : `${expected} is expected, not ${describeValue(this.value)}`,
    );
  }

  /** A member of the object here; of several names the first that is there. */
  member(name: string, ...otherNames: readonly string[]): Place {
    const object = this.object();
    const found =
      [name, ...otherNames].find(
        (one) => Object.hasOwn(object, one) && object[one] !== undefined,
      ) ?? name;
    const path = /^[A-Za-z_$][\w$]*$/.test(found)
      ? `${this.path}.${found}`
      : `${this.path}[${JSON.stringify(found)}]`;
    return new Place(Object.hasOwn(object, found) ? object[found] : undefined, this.#source, path);
  }

  /** Checks that the object at this place has one of these members. */
  has(...names: readonly string[]): boolean {
    return this.isObject && names.some((name) => Object.hasOwn(this.object(), name));
  }

  object(): Readonly<Record<string, unknown>> {
    return isPlainObject(this.value) ? this.value : this.#mustBe('an object');
  }

  /** Refuses members of the object here that nobody would look at. */
  only(names: readonly string[]): this {
    for (const name of Object.keys(this.object())) {
      if (names.includes(name)) continue;
      const nearest = nearestName(name, names);
      const hint =
        nearest === undefined
          ? `the members are ${names.join(', ')}`
          : `did you mean \`${nearest}\`?`;
      this.refuse(`there is no member \`${name}\` (${hint})`);
    }
    return this;
  }

  list(): readonly Place[] {
    if (!Array.isArray(this.value)) return this.#mustBe('a list');
    return this.value.map((part, i) => new Place(part, this.#source, `${this.path}[${i}]`));
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.#mustBe('a string');
  }

  filledText(): string {
    return typeof this.value === 'string' && this.value.trim() !== ''
      ? this.value
      : this.#mustBe('a string that is not empty');
  }

  count(): number {
    return Number.isSafeInteger(this.value) && (this.value as number) >= 1
      ? (this.value as number)
      : this.#mustBe('a whole number from 1');
  }

  oneOf<const Choice extends string>(...choices: readonly Choice[]): Choice {
    const found = choices.find((choice) => choice === this.value);
    return found ?? this.#mustBe(`one of ${choices.map((choice) => `'${choice}'`).join(', ')}`);
  }

  json(): JsonValue {
    const defect = findJsonDefect(this.value, this.path);
    if (defect !== undefined)
      throw new InvalidDatasetError({
        source: this.#source,
        path: defect.path,
        reason: `${defect.found} is not JSON`,
      });
    return this.value as JsonValue;
  }

  jsonObject(): JsonObject {
    this.object();
    return this.json() as JsonObject;
  }

  /**
   * Returns the result of `read` for a given place, as a member to spread; nothing for a missing
   * place.
   */
  optional<const Name extends string, Value>(
    name: Name,
    read: (place: Place) => Value,
  ): { readonly [Key in Name]?: Value } {
    return (this.isGiven ? { [name]: read(this) } : {}) as { readonly [Key in Name]?: Value };
  }
}
