import { AdjutantError } from '../../base/error.ts';

/** A name that no trigger of the app and tenant has. */
export class TriggerNotFoundError extends AdjutantError {
  constructor(data: { trigger: string; app: string; known: readonly string[] }) {
    const known = data.known.length === 0 ? 'it has none' : `it has: ${data.known.join(', ')}`;
    super(
      'trigger_not_found',
      `The app "${data.app}" has no trigger "${data.trigger}"; ${known}.`,
      data,
    );
  }
}

/** A trigger that exists, or is in a state in which this cannot be done with it. */
export class TriggerStateError extends AdjutantError {
  constructor(data: { trigger: string; status: string; refused: string }) {
    super(
      'trigger_state',
      `The trigger "${data.trigger}" cannot be ${data.refused}: it is ${data.status}.`,
      data,
    );
  }
}

/** A delivery to a webhook trigger that was turned away. */
export class WebhookRefusedError extends AdjutantError {
  constructor(data: { trigger: string; reason: string; message: string }) {
    const { message, ...rest } = data;
    super('webhook_refused', `The delivery to "${data.trigger}" is refused: ${message}`, rest);
  }
}
