import { sha256 } from '../../base/hash.ts';
import { canonicalJson, coerceToJson } from '../../base/json.ts';

/** Hash of a call: equal for calls of one tool with the same prepared arguments. */
export function callFingerprint(tool: string, args: unknown): string {
  return sha256(`${tool}\n${canonicalJson(coerceToJson(args).value)}`).slice(0, 20);
}
