import { defined } from '../../base/defined.ts';
import type { AdjutantError } from '../../base/error.ts';
import type { Actor } from '../events/envelope.ts';
import type { DecisionEvent } from '../events/runtime-events.ts';
import type { Failing } from './decision-data.ts';
import type { DataOf, DecidingComponent, DecisionName } from './decision-map.ts';

/** A decision before the ledger has given it a place. */
export type DecisionDraft = Omit<DecisionEvent, 'v' | 'seq' | 'id' | 'at'>;

/** Content of a decision, with its data when the decision has any. */
export type DecisionContent<Data> = {
  /** @default 'runtime' */
  readonly by?: Actor | undefined;
  /** @default the decision belongs to no invocation */
  readonly invocationId?: string | undefined;
  readonly reasoning: string;
  readonly alternatives?: readonly string[];
  readonly tell?: string;
} & ([Data] extends [undefined] ? { readonly data?: never } : { readonly data: Data });

/** Returns the draft of a decision. Its last members keep the order that `content` has. */
export function decision<Component extends DecidingComponent, Name extends DecisionName<Component>>(
  component: Component,
  name: Name,
  content: DecisionContent<DataOf<Component, Name>>,
): DecisionDraft {
  const { by = 'runtime', invocationId, ...rest } = content;
  return {
    type: 'decision',
    by,
    ...defined({ invocationId }),
    component,
    decision: name,
    // The map types the data by interfaces, which TypeScript does not take for JSON.
    ...(rest as Pick<DecisionDraft, 'reasoning' | 'alternatives' | 'data' | 'tell'>),
  };
}

/** Returns the content of a decision that ends the invocation with an error. */
export function failingContent(
  invocationId: string | undefined,
  error: AdjutantError,
): DecisionContent<Failing> {
  const failure = error.toJSON();
  return { invocationId, reasoning: error.message, alternatives: [], data: { failure } };
}

/**
 * The members that tell decisions apart. `data` is optional: what a store gives back is not
 * checked for its members.
 */
type Typed<Component extends DecidingComponent, Name extends DecisionName<Component>> = {
  readonly [One in Name]: {
    readonly type: 'decision';
    readonly component: Component;
    readonly decision: One;
    readonly data?: DataOf<Component, One>;
  };
}[Name];

/** A recorded decision of a component with one of the names. */
export type DecisionOf<
  Component extends DecidingComponent,
  Name extends DecisionName<Component> = DecisionName<Component>,
> = DecisionEvent & Typed<Component, Name>;

/**
 * True for a decision of a component with one of the names, of an event or a draft. Without names,
 * true for each decision of the component.
 */
export function isDecision<
  Given extends { readonly type: string } | undefined,
  Component extends DecidingComponent,
  Name extends DecisionName<Component> = DecisionName<Component>,
>(
  event: Given,
  component: Component,
  ...names: readonly Name[]
): event is Given & Typed<Component, Name> {
  if (event?.type !== 'decision') return false;
  const given = event as Pick<DecisionEvent, 'component' | 'decision'> & Given;
  return (
    given.component === component &&
    (names.length === 0 || (names as readonly string[]).includes(given.decision))
  );
}
