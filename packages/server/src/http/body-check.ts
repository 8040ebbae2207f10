import { isBlobReference } from 'adjutant';
import { RequestRefusedError } from './problem.ts';

/** Levels of nesting. What folds, hashes and compares values calls itself for each. */
const deepest = 200;

/** Members of one object. Whatever goes through an object is slow when it has very many; lists, which are not, may be as long as a body may. */
const mostMembers = 10_000;

/**
 * Refuses bodies that ledgers cannot hold as they are: what is nested too deep or has too many members, and what looks like a reference to a
 * large value. A ledger would take it for a value of this form, while a sender hands back what was read as a reference and means the value.
 * @throws RequestRefusedError `invalid_request` (400)
 */
export function assertStorable(body: unknown): void {
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw refused(`it is nested deeper than ${deepest} levels`);
    if (level.some(isBlobReference))
      throw refused('an object with `$blob`, `hash`, `size` and `preview` is the form of references, which only ledgers make');
    level = level.flatMap(partsOf);
  }
}

function partsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const parts: readonly unknown[] = Object.values(value);
  if (!Array.isArray(value) && parts.length > mostMembers) throw refused(`an object has more than ${mostMembers} members; send a list instead`);
  return parts;
}

function refused(message: string): RequestRefusedError {
  return new RequestRefusedError(400, 'invalid_request', `The request does not fit: body: ${message}.`, { issues: [{ path: 'body', message }] });
}
