import { AdjutantError } from '../base/error.ts';

/** A bus that is closed. */
export class BusClosedError extends AdjutantError {
  constructor() {
    super('bus_closed', 'The event bus has been closed. Make a new one.');
  }
}

/** A bus that cannot be reached. The event may have been carried all the same. */
export class BusUnavailableError extends AdjutantError {
  constructor(data: { reason: string }, options?: ErrorOptions) {
    super(
      'bus_unavailable',
      `The event bus cannot be reached: ${data.reason}. Subscriptions go on when it is back.`,
      data,
      options,
    );
  }
}
