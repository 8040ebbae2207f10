/**
 * Numbers that depend on a seed and on the place where they are drawn, and on nothing else. A draw
 * that is left out changes no other one, so that a failing story can be made shorter.
 */
export class Draws {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A number in [0, 1) for a place. */
  at(place: string): number {
    // FNV-1a over the place, then the finaliser of MurmurHash3.
    let hash = 0x81_1c_9d_c5 ^ this.#seed;
    for (let index = 0; index < place.length; index++)
      hash = Math.imul(hash ^ place.charCodeAt(index), 0x01_00_01_93);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` up to and including `most`. */
  whole(place: string, least: number, most: number): number {
    return least + Math.floor(this.at(place) * (most - least + 1));
  }

  /** One of several values. */
  oneOf<Value>(place: string, values: readonly Value[]): Value {
    return values[Math.floor(this.at(place) * values.length)] as Value;
  }

  /**
   * A time between `least` and `most` milliseconds. Short times are as likely as long ones: each
   * power of ten has the same share.
   */
  delay(place: string, least: number, most: number): number {
    return least * (most / least) ** this.at(place);
  }

  /** Draws of their own for a part of the story. */
  part(name: string): Draws {
    return new Draws(Math.floor(this.at(name) * 4_294_967_296));
  }
}
