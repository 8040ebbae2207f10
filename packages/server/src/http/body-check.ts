import type { z } from '@hono/zod-openapi';
import { isBlobReference } from 'adjutant/store';
import type { MiddlewareHandler } from 'hono';
import type { ServerEnv } from './parts.ts';
import { RequestRefusedError } from './problem.ts';

/** Levels of nesting. What folds, hashes and compares values calls itself for each. */
const deepest = 200;

/**
 * Members of one object. Whatever goes through an object is slow when it has very many; lists,
 * which are not, may be as long as a body may.
 */
const mostMembers = 10_000;

/**
 * Refuses bodies that ledgers cannot hold as they are: what is nested too deep or has too many
 * members, and what looks like a reference to a large value. A ledger would take it for a value of
 * this form, while a sender hands back what was read as a reference and means the value.
 * @throws RequestRefusedError `invalid_request` (400)
 */
export function assertStorable(body: unknown): void {
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw refused(`it is nested deeper than ${deepest} levels`);
    if (level.some(isBlobReference))
      throw refused(
        'an object with `$blob`, `hash`, `size` and `preview` is the form of references, ' +
          'which only ledgers make',
      );
    level = level.flatMap(partsOf);
  }
}

function partsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const parts: readonly unknown[] = Object.values(value);
  if (!Array.isArray(value) && parts.length > mostMembers)
    throw refused(`an object has more than ${mostMembers} members; send a list instead`);
  return parts;
}

/** Members of an object whose names callers choose and whose values a schema checks. */
const mostCheckedMembers = 100;

/** The part of a Zod definition by which lists and records are found. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly maximum?: number } };
  }[];
}

/**
 * Refuses lists that are longer than their schema lets them be. Validators look at all items before
 * they look at the length, and say of each what is wrong with it: a megabyte of wrong items would
 * take them a second.
 * @throws RequestRefusedError `invalid_request` (400)
 */
export function assertLengths(schema: z.ZodType, value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, innerType, element, valueType, shape, checks } = schema._zod.def as Definition;
  if (innerType !== undefined) {
    assertLengths(innerType, value, path);
  } else if (type === 'array' && element !== undefined && Array.isArray(value)) {
    const most = checks?.find(({ _zod }) => _zod.def.check === 'max_length')?._zod.def.maximum;
    if (most !== undefined && value.length > most)
      throw refused(`must have at most ${most} items`, path);
    for (const [i, item] of value.entries()) assertLengths(element, item, `${path}.${i}`);
  } else if (type === 'object') {
    for (const [name, inner] of Object.entries(shape ?? {}))
      assertLengths(inner, (value as Record<string, unknown>)[name], `${path}.${name}`);
  } else if (
    type === 'record' &&
    valueType?._zod.def.type !== 'unknown' &&
    Object.keys(value).length > mostCheckedMembers
  ) {
    throw refused(`must have at most ${mostCheckedMembers} members`, path);
  }
}

/**
 * Checks the form of a body before its schema does, whose work grows with all that is wrong. A body
 * that is no JSON is left to the validator. The media type does not count here: what the validator
 * takes for JSON must not pass unchecked.
 */
export function checkForm(schema: z.ZodType): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    context.set('bodySchema', schema);
    // Parsed once: the validator gets the same value.
    const body: unknown = await context.req.json().catch(() => undefined);
    assertStorable(body);
    assertLengths(schema, body, 'body');
    await next();
  };
}

function refused(message: string, path = 'body'): RequestRefusedError {
  return new RequestRefusedError(
    400,
    'invalid_request',
    `The request does not fit: ${path}: ${message}.`,
    { issues: [{ path, message }] },
  );
}
