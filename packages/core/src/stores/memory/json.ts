import { deepFreeze } from '../../base/json.ts';

/** Returns a frozen copy of a JSON value, as a file would give it back. */
export function copyJson<T>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as T);
}
