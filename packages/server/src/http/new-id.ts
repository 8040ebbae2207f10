import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ServerEnv } from './parts.ts';

/** A request whose route makes something. */
type MakingRequest = { readonly context: Pick<Context<ServerEnv>, 'var'> };

/**
 * The id of what a request makes: `run_…`, `session_…`. Under an `Idempotency-Key` it follows from
 * the key, so that a request that is repeated after a crash finds what it has made and does not
 * make it twice.
 * @param name tells things of one prefix apart that one request makes
 */
export function newId({ context }: MakingRequest, prefix: string, name = ''): string {
  const { idempotencySeed, ids } = context.var;
  if (idempotencySeed === undefined) return `${prefix}_${ids.next()}`;
  const digest = createHash('sha256')
    .update(JSON.stringify([idempotencySeed, prefix, name]))
    .digest('hex');
  return `${prefix}_${digest.slice(0, idDigits)}`;
}

/** 80 bits, as many as other ids have. */
const idDigits = 20;

/**
 * True when the request was begun before under its `Idempotency-Key` and its end is not known. Its
 * result may exist already under the id that `newId` gives, which is no fault then. The same holds
 * for an answer that it gave and a session that it deleted.
 */
export function isBegunBefore({ context }: MakingRequest): boolean {
  return context.var.isBegunBefore === true;
}
