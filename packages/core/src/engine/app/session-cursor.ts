import { InvalidCursorError } from '../../ledger/errors.ts';
import type { ListOptions } from '../../ledger/port.ts';

/** Place at which a page of a list of sessions ends. */
type ListPlace = NonNullable<ListOptions['before']>;

/** Returns the place of a page's end as an opaque text. */
export function writeCursor({ id, createdAt, updatedAt }: ListPlace, order: string): string {
  return Buffer.from(JSON.stringify([order, createdAt, updatedAt, id])).toString('base64url');
}

/**
 * Returns the place that `writeCursor` wrote.
 * @throws InvalidCursorError when the text is no cursor, or one of another order
 */
export function readCursor(cursor: string, wanted: string): ListPlace {
  const [order, createdAt, updatedAt, id] = parsedCursor(cursor);
  if (
    (order !== 'updatedAt' && order !== 'createdAt') ||
    !isTime(createdAt) ||
    !isTime(updatedAt) ||
    typeof id !== 'string'
  ) {
    throw new InvalidCursorError({ cursor, reason: 'it is not one that `list` gave' });
  }
  if (order !== wanted)
    throw new InvalidCursorError({
      cursor,
      reason: `it belongs to a list in the order of \`${order}\``,
    });
  return { id, createdAt, updatedAt };
}

function parsedCursor(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parsed) && parsed.length === 4 ? parsed : [];
  } catch {
    return [];
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
