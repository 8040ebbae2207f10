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

const pool = new Uint8Array(4_096);
let used = pool.length;

/**
 * Returns unpredictable bytes, for keys and nonces.
 * @param count at most 4,096
 */
export function unguessableBytes(count: number): Uint8Array {
  // One call of the system fills a pool; used bytes are not kept.
  if (used + count > pool.length) {
    process.getBuiltinModule('node:crypto').randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.slice(used, used + count);
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
