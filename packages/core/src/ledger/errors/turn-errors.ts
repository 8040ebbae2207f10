import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';

/** As many turns wait as the limits of the queue allow. Nothing was posted. */
export class QueueFullError extends AdjutantError {
  constructor(data: {
    queue: string;
    limit: 'level' | 'total' | 'tenant' | 'requester';
    most: number;
    level?: number | undefined;
    retryAfterMs?: number | undefined;
  }) {
    const of = { level: 'of this priority', total: 'in all', tenant: 'of this tenant' };
    const which = data.limit === 'requester' ? 'of this requester' : of[data.limit];
    super(
      'queue_full',
      `The queue "${data.queue}" is full: at most ${data.most} tasks ${which} may wait. ` +
        'Submit it again later, or raise the limit of the queue.',
      data as JsonObject,
    );
  }
}

/** All places of a concurrency key are taken by other sessions. */
export class KeyBusyError extends AdjutantError {
  constructor(data: { session: string; key: string; limit: number }) {
    super(
      'key_busy',
      `Session "${data.session}" cannot go on now: ${data.limit} other ` +
        `${data.limit === 1 ? 'session has' : 'sessions have'} the places of its concurrency key ` +
        `"${data.key}". It goes on when one of them is free.`,
      data,
    );
  }
}
