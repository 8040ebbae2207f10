import { sha256 } from './hash.ts';

/** The port through which all randomness enters. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
}

export const systemRandom: Random = Object.freeze({ next: () => Math.random() });

/** A number in [0, 1) that depends on nothing but `seed`. */
export function randomFromSeed(seed: string): number {
  return Number.parseInt(sha256(seed).slice(0, 13), 16) / 2 ** 52;
}
