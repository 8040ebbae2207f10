/**
 * Adds the matchers to the `expect` of jest, with their types: for the global one (`@types/jest`)
 * and for that of `@jest/globals`.
 */
import type {} from 'expect';
import type { LedgerMatchers } from './matcher-types.ts';
import { setupMatchers } from './setup.ts';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends LedgerMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R, T> extends LedgerMatchers<R> {}
  }
}

// Jest gives its `expect` to code that asks from inside a test file, and awaits nothing when
// modules are required.
setupMatchers();

export { setupMatchers };
