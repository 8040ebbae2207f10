import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

export interface DecisionEvent extends Envelope<'decision'> {
  readonly component: string;
  readonly decision: string;
  readonly reasoning: string;
  readonly alternatives?: readonly string[];
  /** `failure`: the error of the invocation when it ends. `next`: the target of its handoff. */
  readonly data?: JsonObject;
  /** Message about the decision for the agent's model, in its history. */
  readonly tell?: string;
}

export interface ErrorEvent extends Envelope<'error'> {
  readonly error: ErrorRecord;
  readonly phase: string;
}
