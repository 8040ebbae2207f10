import { deepFreeze } from '../../base/json.ts';

/** A copy that nobody can change, as it would come out of a file. */
export function copyJson<T>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as T);
}
