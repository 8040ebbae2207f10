import type { RequestEntry } from 'adjutant';
import { InvalidCursorError } from 'adjutant/errors';

type RequestPlace = Pick<RequestEntry, 'createdAt' | 'requestId'>;

export function writeRequestCursor({ createdAt, requestId }: RequestPlace): string {
  return Buffer.from(JSON.stringify([createdAt, requestId])).toString('base64url');
}

/** @throws InvalidCursorError */
export function readRequestCursor(cursor: string): RequestPlace {
  const [createdAt, requestId] = parsed(cursor);
  if (Number.isSafeInteger(createdAt) && typeof requestId === 'string')
    return { createdAt: createdAt as number, requestId };
  throw new InvalidCursorError({ cursor, reason: 'it is not one that a list of requests gave' });
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) && value.length === 2 ? value : [];
  } catch {
    return [];
  }
}
