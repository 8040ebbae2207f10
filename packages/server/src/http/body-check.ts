import { isBlobReference } from 'adjutant';
import { RequestRefusedError } from './problem.ts';

/** Levels of nesting. What folds, hashes and compares values calls itself for each. */
const deepest = 200;

/**
 * Refuses bodies that ledgers cannot hold as they are: what is nested too deep, and what looks like a reference to a large value. A ledger would take it for
 * a value of this form, while whoever sends it hands back what was read as a reference and means the value.
 * @throws RequestRefusedError `invalid_request` (400)
 */
export function assertStorable(body: unknown): void {
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw refused(`it is nested deeper than ${deepest} levels`);
    if (level.some(isBlobReference))
      throw refused('an object with `$blob`, `hash`, `size` and `preview` is the form of references, which only ledgers make');
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

function refused(message: string): RequestRefusedError {
  return new RequestRefusedError(400, 'invalid_request', `The request does not fit: body: ${message}.`, { issues: [{ path: 'body', message }] });
}
