import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ServerEnv } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';

/** Refuses bodies that are too long, also those that do not say how long they are. */
export function limitBody(bytes: number): MiddlewareHandler<ServerEnv> {
  return bodyLimit({
    maxSize: bytes,
    onError: (_context: Context) => {
      throw new RequestRefusedError(
        413,
        'body_too_large',
        `The body of a request may have ${bytes} bytes at most.`,
        { bytes },
      );
    },
  });
}
