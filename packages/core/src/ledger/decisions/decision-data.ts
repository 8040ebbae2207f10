import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { NextInvocation } from '../events/invocation-events.ts';

/**
 * Data of a decision as it is recorded. Two members mean the same in every decision of an
 * invocation.
 */
export type DecisionData = JsonObject & {
  /** Error of the invocation when it ends. */
  readonly failure?: ErrorRecord;
  /** Target of the handoff of the invocation. */
  readonly next?: NextInvocation;
};

/** Data of a decision that ends its agent with an error, once its open calls are settled. */
export type Failing = { readonly failure: ErrorRecord };
