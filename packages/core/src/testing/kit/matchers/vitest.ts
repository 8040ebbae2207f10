/** Adds the matchers to the `expect` of vitest, with their types. */
import { loadOptionalPackage } from '../../../base/optional-package.ts';
import type { LedgerMatchers } from './matcher-types.ts';
import { setupMatchers } from './setup.ts';

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends LedgerMatchers<R> {}
}

const { expect } = await loadOptionalPackage(
  'vitest',
  'adjutant/testing/vitest',
  () => import('vitest'),
);
setupMatchers(expect);

export { setupMatchers };
