import { sha256 } from '../../base/hash.ts';
import { canonicalJson, coerceToJson, type JsonValue } from '../../base/json.ts';
import type { Tool } from '../../tools/tool.ts';

const definitionHashes = new WeakMap<Tool, string>();

/** Hash of the parts of a tool's definition on which an answer depends. */
function definitionHash(tool: Tool): string {
  let hash = definitionHashes.get(tool);
  if (hash === undefined) {
    hash = sha256(
      canonicalJson([
        tool.name,
        tool.version ?? null,
        tool.inputSchema,
        tool.yieldInputSchema ?? null,
      ] as JsonValue),
    );
    definitionHashes.set(tool, hash);
  }
  return hash;
}

/**
 * Fingerprint that binds an answer to its request. It covers the tool, its version and schemas, and
 * the prepared arguments.
 */
export function requestFingerprint(tool: Tool, args: unknown): string {
  return sha256(`${definitionHash(tool)}\n${canonicalJson(coerceToJson(args).value)}`).slice(0, 32);
}
