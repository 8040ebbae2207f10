import type { EventOf, JsonObject, JsonValue } from 'adjutant';
import type { DataPart } from './part.ts';

/** Types of data parts that the server makes itself. */
const reserved: ReadonlySet<string> = new Set([
  'data-request',
  'data-waiting',
  'data-tool-progress',
]);
const ownType = /^data-[\w-]{1,100}$/;

/** A data part of an app, before it has a place. */
interface OwnData {
  readonly type: `data-${string}`;
  readonly id?: string;
  readonly data: JsonValue;
}

/**
 * Reads a value as a data part of the app: `{ type: 'data-chart', data, id? }`. `undefined` when it
 * is none.
 */
export function ownDataOf(value: unknown): OwnData | undefined {
  if (!isObject(value)) return undefined;
  const { type, id, data } = value;
  if (typeof type !== 'string' || !ownType.test(type) || reserved.has(type)) return undefined;
  if (data === undefined) return undefined;
  return {
    type: type as OwnData['type'],
    data,
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
  };
}

/** Additions of a tool's result to the message: `metadata.ui` of the result. */
export interface OwnAdditions {
  readonly parts: readonly DataPart[];
  /** Metadata of the message. */
  readonly metadata: JsonObject | undefined;
}

export function additionsOf({ callId, result }: EventOf<'tool_result'>): OwnAdditions {
  const ui = result.metadata?.['ui'];
  if (!isObject(ui)) return { parts: [], metadata: undefined };
  const { parts, metadata } = ui;
  const own = (Array.isArray(parts) ? parts : []).flatMap((part, index): DataPart[] => {
    const found = ownDataOf(part);
    return found === undefined ? [] : [{ kind: 'data', id: `${callId}/d${index}`, ...found }];
  });
  return { parts: own, metadata: isObject(metadata) ? metadata : undefined };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
