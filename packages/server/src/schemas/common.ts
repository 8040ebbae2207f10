import { z } from '@hono/zod-openapi';
import { laneProblem } from 'adjutant/text';

/** Kinds of everything that can be run. */
export const runnableKinds = [
  ...(['agent', 'step', 'sequence', 'parallel', 'loop'] as const),
  ...(['plan', 'graph', 'router'] as const),
] as const;

const longestId = 256;
/**
 * No control characters: they do not survive headers, logs and databases. Without flags: documents
 * have no place for them.
 */
const printable = /^[ -~\u00a0-\uffff]+$/;

/** An id or a name. Halves of characters have no UTF-8. */
export const idSchema = z
  .string()
  .min(1)
  .max(longestId)
  .regex(printable, 'must be text without control characters')
  .refine((text) => text.isWellFormed(), 'must be whole characters');

/**
 * The id of what is made. Clients take `.` and `..` in an address for steps on its path, however
 * they are written: nobody could reach it.
 */
export const newIdSchema = idSchema.refine(
  (text) => text !== '.' && text !== '..',
  'cannot be . or .., which addresses cannot have',
);

/** Returns the schema of a message: text, with advice for those who send parts. */
export function messageTextSchema(longest: number) {
  return z
    .string({
      error: ({ input }) =>
        Array.isArray(input)
          ? 'must be a string: a message is text, so join the texts of parts; files and images ' +
            'do not reach the model'
          : undefined,
    })
    .max(longest);
}

/** Ids that become part of paths in a ledger. */
export const runIdSchema = newIdSchema.regex(/^[^/#~>]+$/, 'must have none of / # ~ >');

/** The name of a lane of a session. The default lane has none. */
export const laneSchema = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, _ and -')
  // The rule of the runtime, which knows the reserved name too.
  .refine((name) => laneProblem(name) === undefined, 'is left out for the default lane')
  .openapi({
    description: 'Lane of the session. Each has one open run at most. Default: the default lane.',
    example: 'background',
  });

/** Epoch milliseconds, as answers have them. */
export const timestampSchema = z
  .int()
  .openapi({ description: 'Epoch milliseconds.', example: 1_767_225_600_000 });

/** Any JSON value. */
export const jsonSchema = z.unknown().openapi('JsonValue', { description: 'Any JSON value.' });

/** Returns the schema of the largest number of entries on a page. */
export function limitSchema(most: number, usual: number) {
  return z.coerce.number().int().min(1).max(most).default(usual).openapi({
    type: 'integer',
    minimum: 1,
    maximum: most,
    default: usual,
    description: 'How many at most.',
    example: usual,
  });
}

/** A place in a ledger: 0 is before the first event. */
export const seqSchema = z.coerce
  .number()
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .openapi({ type: 'integer', minimum: 0, example: 12 });

/** A flag in a query. */
export const flagSchema = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
  .openapi({ type: 'boolean', enum: [true, false], default: false });

/** Where a page ended. */
export const cursorSchema = z
  .string()
  .min(1)
  .max(2_000)
  .openapi({
    description:
      'Goes on where a page ended: its `cursor`, with the other options as they were. ' +
      'Default: the first page.',
  });

/** The cursor of an answer. */
export const nextCursorSchema = z
  .string()
  .optional()
  .openapi({ description: 'Gives the next page; missing on the last one.' });

/** A point in time in a query. */
export const timeSchema = z
  .string()
  .refine(
    (text) => Number.isFinite(millisecondsOf(text)),
    'must be a time such as 2026-01-31T12:00:00Z, or epoch milliseconds',
  )
  .transform(millisecondsOf)
  .openapi({ type: 'string', example: '2026-01-31T12:00:00Z' });

function millisecondsOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}

/** Answer to an accepted request; the process that works on the session carries it out. */
export const acceptedSchema = z
  .strictObject({
    session: idSchema.openapi({ example: 'customer-7' }),
    status: z.literal('accepted'),
  })
  .openapi('Accepted', { description: 'It is stored, and whoever works on the session heeds it.' });

/** The session in a path. */
export const sessionPathSchema = z.strictObject({
  session: idSchema.openapi({ description: 'Id of the session.', example: 'customer-7' }),
});
