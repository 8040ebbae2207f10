import { isPlainObject, type JsonObject } from '../../base/json.ts';
import type { Request } from './request.ts';

const toolCall = new RegExp(
  String.raw`^\s*(?:please\s+)?(?:use|call)\s+(?:the\s+tool\s+)?` +
    String.raw`([A-Za-z_][\w.-]*)(?:\s+with)?\s*(\{.*\})[\s.]*$`,
  'is',
);

/**
 * Reads a message that names a tool and its arguments as JSON: `Use remind {"invoice":"A-1"}`. So
 * tools that these rules do not know can be rehearsed, too.
 */
export function parseToolCall(message: string): Request | undefined {
  const [, name, json] = toolCall.exec(message) ?? [];
  if (name === undefined || json === undefined) return undefined;
  try {
    const args = JSON.parse(json) as JsonObject;
    return isPlainObject(args) ? { kind: 'tool', name, args } : undefined;
  } catch {
    return undefined;
  }
}
