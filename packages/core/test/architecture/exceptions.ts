import type { Exception } from './finding.ts';

const long = 'longer than allowed since lines have 100 columns: it is to be split by subject';

/**
 * May only shrink: an exception that is no longer needed fails the test, and so does a line more
 * than `mostExceptions`.
 */
export const exceptions: readonly Exception[] = [
  {
    rule: 'function-size',
    file: 'packages/core/src/context/recipe.ts',
    subject: 'rebuildCall',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/effects/model-call/perform-model-call.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/effects/model-call/perform-model-call.ts',
    subject: 'recordFailure',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/effects/body-effect/perform-effect.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/middleware/logging.ts',
    subject: 'loggingMiddleware',
    reason: long,
  },
];

/** Lower it with every exception that goes. */
export const mostExceptions = 7;
