/** Adds the matchers to the `expect` of vitest, with their types. */
import { expect } from 'vitest';
import type { LedgerMatchers } from './matcher-types.ts';
import { setupMatchers } from './setup.ts';

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends LedgerMatchers<R> {}
}

setupMatchers(expect);

export { setupMatchers };
