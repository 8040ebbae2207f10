import { createRequire } from 'node:module';
import { InvalidOptionError } from '../../../base/invalid-option.ts';
import { describeValue } from '../../../base/options.ts';
import { ExpectNotFoundError } from './errors.ts';
import { matchers } from './matchers.ts';

/** An `expect` that takes further matchers: that of vitest, of jest, or of the package `expect`. */
export interface ExtendableExpect {
  extend(matchers: Record<string, never>): unknown;
}

/**
 * Key of the global object under which vitest keeps its `expect`, even when `expect` is not a
 * global.
 */
const vitestExpect = Symbol.for('expect-global');

/**
 * Adds the matchers to `expect`; a second call changes nothing. Without an argument, it extends the
 * `expect` of the running test runner: the global one, or that of vitest or of `@jest/globals`. For
 * the types, import `adjutant/testing/vitest` or `adjutant/testing/jest`, which also does this.
 * @throws ExpectNotFoundError when nothing is given and no runner is there, InvalidOptionError when
 * the given value takes no matchers
 */
export function setupMatchers(expect: ExtendableExpect = findExpect()): void {
  if (typeof (expect as Partial<ExtendableExpect> | null)?.extend !== 'function') {
    throw new InvalidOptionError({
      function: 'setupMatchers',
      reason:
        'it needs the `expect` of vitest or jest, which has `extend`, not ' +
        `${describeValue(expect)}`,
    });
  }
  // A copy is given, because runners keep the object.
  expect.extend({ ...matchers } as unknown as Record<string, never>);
}

function isExtendable(value: unknown): value is ExtendableExpect {
  return typeof (value as Partial<ExtendableExpect> | null | undefined)?.extend === 'function';
}

function findExpect(): ExtendableExpect {
  const globals = globalThis as unknown as {
    readonly expect?: unknown;
    readonly [vitestExpect]?: unknown;
  };
  for (const candidate of [globals.expect, globals[vitestExpect]])
    if (isExtendable(candidate)) return candidate;
  const tried = ['the global `expect`', 'vitest', '`@jest/globals`'];
  try {
    // Jest resolves this module itself, inside a test file.
    const { expect } = createRequire(import.meta.url)('@jest/globals') as { expect?: unknown };
    if (isExtendable(expect)) return expect;
  } catch (cause) {
    throw new ExpectNotFoundError({ tried }, { cause });
  }
  throw new ExpectNotFoundError({ tried });
}
