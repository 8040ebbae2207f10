import type { ErrorRecord } from '../../base/error.ts';
import type { DecisionData } from '../decisions/decision-data.ts';
import type { Envelope } from './envelope.ts';

export interface DecisionEvent extends Envelope<'decision'> {
  readonly component: string;
  readonly decision: string;
  readonly reasoning: string;
  readonly alternatives?: readonly string[];
  readonly data?: DecisionData;
  /** Message about the decision for the agent's model, in its history. */
  readonly tell?: string;
}

export interface ErrorEvent extends Envelope<'error'> {
  readonly error: ErrorRecord;
  readonly phase: string;
}
