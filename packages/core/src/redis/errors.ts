import { AdjutantError } from '../base/error.ts';

/** A pub/sub connection that cannot be made as configured. */
export class InvalidPubSubError extends AdjutantError {
  constructor(data: { reason: string }) {
    super('invalid_pub_sub', `Redis cannot be used: ${data.reason}.`, data);
  }
}

/** A pub/sub connection that is closed. */
export class PubSubClosedError extends AdjutantError {
  constructor() {
    super(
      'pub_sub_closed',
      'The connection to Redis has been closed. Make a new one with redis(…).',
    );
  }
}
