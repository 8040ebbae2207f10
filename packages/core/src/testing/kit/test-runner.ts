import { InvalidOptionError } from '../../base/invalid-option.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';

/**
 * The context of a running test, as far as the contracts use it: vitest and `node:test` let a test
 * skip itself.
 */
interface TestContext {
  skip?(reason?: string): unknown;
}

/**
 * The part of a test runner that contracts are defined with; vitest, jest and `node:test` have it.
 */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly test: (name: string, run: (...context: unknown[]) => Promise<void>) => unknown;
}

/**
 * Returns the running test runner: vitest, one with global `describe` and `test` such as jest, or
 * else `node:test`.
 * @throws InvalidOptionError when `given` is no runner
 */
export async function testRunner(needed: string, given: unknown): Promise<TestRunner> {
  if (given !== undefined) {
    if (isRunner(given)) return given;
    throw new InvalidOptionError({
      function: needed,
      reason: '`runner` must be an object with the functions `describe` and `test`',
    });
  }
  // Vitest sets it, and has no global functions unless an option asks for them.
  if (process.env['VITEST'] !== undefined) {
    const { describe, test } = await loadOptionalPackage('vitest', needed, () => import('vitest'));
    return { describe, test };
  }
  const found = globalThis as Partial<Record<'describe' | 'test', unknown>>;
  if (isRunner(found)) return found;
  const { describe, test } = await import('node:test');
  return { describe, test };
}

function isRunner(value: unknown): value is TestRunner {
  const { describe, test } = (value ?? {}) as Partial<Record<'describe' | 'test', unknown>>;
  return typeof describe === 'function' && typeof test === 'function';
}

/** Skips the test that is running, where the runner can do so. */
export function skipTest(context: unknown, reason: string): void {
  (context as TestContext | undefined)?.skip?.(reason);
}
