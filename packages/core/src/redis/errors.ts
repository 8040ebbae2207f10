import { AdjutantError } from '../base/error.ts';

/** What carries messages cannot be made as asked. */
export class InvalidPubSubError extends AdjutantError {
  constructor(data: { reason: string }) {
    super('invalid_pub_sub', `Redis cannot be used: ${data.reason}.`, data);
  }
}

/** Messages cannot be carried any more. */
export class PubSubClosedError extends AdjutantError {
  constructor() {
    super(
      'pub_sub_closed',
      'The connection to Redis has been closed. Make a new one with redis(…).',
    );
  }
}
