import { AdjutantError } from '../error.ts';

/** An event that a bus does not carry. */
export class InvalidBusEventError extends AdjutantError {
  constructor(data: { reason: string }) {
    super('invalid_bus_event', `The event cannot be published: ${data.reason}.`, data);
  }
}
