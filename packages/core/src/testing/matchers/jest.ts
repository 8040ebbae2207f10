/** Adds the matchers to the `expect` of jest, with their types: for the global one (`@types/jest`) and for that of `@jest/globals`. */
import { expect } from '@jest/globals';
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

setupMatchers(expect);

export { setupMatchers };
