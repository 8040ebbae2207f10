import { RequestRefusedError } from './problem.ts';

/** Levels of nesting. What folds, hashes and compares values calls itself for each. */
const deepest = 200;

/** @throws RequestRefusedError `invalid_request` (400) for a body that is nested too deep to be worked with */
export function assertShallow(body: unknown): void {
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw tooDeep();
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

function tooDeep(): RequestRefusedError {
  return new RequestRefusedError(400, 'invalid_request', `The request does not fit: body: it is nested deeper than ${deepest} levels.`, {
    issues: [{ path: 'body', message: `it is nested deeper than ${deepest} levels` }],
  });
}
