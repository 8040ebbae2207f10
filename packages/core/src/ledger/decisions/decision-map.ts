import type { AgentDecisions } from './agent-decisions.ts';
import type { PlanDecisions } from './plan-decisions.ts';
import type { RoutingDecisions } from './routing-decisions.ts';
import type { RuntimeDecisions } from './runtime-decisions.ts';
import type { ServiceDecisions } from './service-decisions.ts';
import type { SupervisionDecisions } from './supervision-decisions.ts';

/**
 * Decisions of this package: component, then decision, then the type of its data; `undefined` for
 * a decision without data. Ledgers may hold others, of apps and of other builds.
 */
export interface DecisionMap
  extends SupervisionDecisions,
    AgentDecisions,
    RuntimeDecisions,
    PlanDecisions,
    RoutingDecisions,
    ServiceDecisions {}

/** A component of this package that decides. */
export type DecidingComponent = keyof DecisionMap;
/** A decision of a component. */
export type DecisionName<Component extends DecidingComponent> = keyof DecisionMap[Component] &
  string;
/** Data of a decision. */
export type DataOf<
  Component extends DecidingComponent,
  Decision extends DecisionName<Component>,
> = DecisionMap[Component][Decision];
