import type { DecisionEvent } from '../events/runtime-events.ts';
import type { DecisionOf } from './decision.ts';
import type { DecidingComponent, DecisionName } from './decision-map.ts';

/** Each decision as one name, such as `models.fallback`. */
type QualifiedName = {
  [Component in DecidingComponent]: `${Component}.${DecisionName<Component>}`;
}[DecidingComponent];

type Steered = 'agent' | 'invocations' | 'requests' | 'permissions' | 'standing';

/**
 * Decisions that change how something goes on, by the thing that they steer. A decision that is
 * added here does not compile until the folds of that thing say what they do with it.
 */
interface Steering extends Record<Steered, QualifiedName> {
  /** Position of an agent, which also heeds `failure` and `tell` of any decision. */
  agent:
    | 'spawn.detach'
    | 'request.withdraw'
    | 'limits.warn'
    | 'limits.exhausted'
    | 'output.repair'
    | 'output.invalid'
    | 'goal.again'
    | 'goal.unmet'
    | 'models.fallback'
    | 'guardrail.deny'
    | 'hooks.transfer'
    | 'hooks.continue';
  /** Tree of the invocations. */
  invocations: 'spawn.detach';
  /** Requests that wait for an answer. */
  requests: 'request.withdraw';
  /** Permissions of a session and of a run. */
  permissions: 'permissions.grant' | 'permissions.revoke';
  /** Approvals that hold for later calls. */
  standing: 'request.standing' | 'request.withdraw_standing';
}

type EventNamed<Qualified> = Qualified extends `${infer Component}.${infer Name}`
  ? Component extends DecidingComponent
    ? Name extends DecisionName<Component>
      ? DecisionOf<Component, Name>
      : never
    : never
  : never;

/** Handlers of all decisions that steer a thing. They change its state in place. */
type Handlers<Thing extends Steered, State> = {
  readonly [Qualified in Steering[Thing]]: (state: State, event: EventNamed<Qualified>) => void;
};

/**
 * Returns the fold of the decisions that steer a thing. It changes the state in place, and does
 * nothing for other decisions.
 */
export function decisionFold<Thing extends Steered, State>(
  handlers: Handlers<Thing, State>,
): (state: State, event: DecisionEvent) => void {
  const byName = new Map(
    Object.entries(handlers) as [string, (state: State, event: DecisionEvent) => void][],
  );
  return (state, event) => byName.get(`${event.component}.${event.decision}`)?.(state, event);
}
