import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const places = /(file:\/\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+)/g;

/** File and line of a project at which an error came up. `undefined`: none is known. */
export function placeOfFailure(error: unknown, base: string): string | undefined {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const inner = one.cause instanceof Error ? placeOfFailure(one.cause, base) : undefined;
    if (inner !== undefined) return inner;
    for (const [, url = '', line] of (one.stack ?? '').matchAll(places)) {
      const path = relative(base, fileURLToPath(url));
      if (!path.startsWith('..') && !path.includes('node_modules')) return `${path}:${line}`;
    }
  }
  return undefined;
}
