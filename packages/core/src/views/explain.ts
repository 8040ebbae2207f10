import { defined } from '../base/defined.ts';
import { checkOptions } from '../base/invalid-option.ts';
import type { JsonObject } from '../base/json.ts';
import { isListOfText, isNumber, isText, type OptionChecks } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';
import type { AnySession } from '../session/session.ts';
import { Choices } from './choices.ts';
import { type DecisionComponent, decisionSentence } from './decision-words.ts';
import { EventPlaces } from './event-places.ts';
import { sourceOf } from './view-source.ts';

/** A choice that was made while a session was worked on, in plain words. */
export interface ExplainedDecision {
  /** Place in the ledger. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Missing when only events were given. */
  readonly session?: string;
  /** Id of the run; missing for a decision that belongs to no run. */
  readonly run?: string;
  /** Path of the invocation. */
  readonly path?: string;
  /** Name of the agent or other runnable that ran there. */
  readonly agent?: string;
  readonly component: string;
  readonly decision: string;
  /** The decision as a sentence. */
  readonly what: string;
  readonly why: string;
  /** The other possibilities that were considered. */
  readonly alternatives: readonly string[];
  readonly by: string;
  readonly data?: JsonObject;
}

export interface ExplainOptions {
  /** Only this run. @default all */
  readonly run?: string;
  /** Only these components, such as `loop_detector`. @default all */
  readonly components?: readonly (DecisionComponent | (string & {}))[];
  /** Only the first events, up to this `seq`. @default all */
  readonly upTo?: number;
}

/**
 * Explains the decisions of a session: each with its reason and the alternatives. They were made by
 * supervision, by people and by the runtime itself, and come in the order of the ledger.
 * @throws InvalidOptionError
 */
export function explain(
  source: AnySession | readonly Event[],
  options: ExplainOptions = {},
): readonly ExplainedDecision[] {
  checkOptions<ExplainOptions>('explain', options, explainChecks);
  const { run, components, upTo = Number.POSITIVE_INFINITY } = options;
  const { events, resolve, session } = sourceOf('explain', source);
  const places = new EventPlaces(events);
  const choices = new Choices(events, resolve);
  const explained: ExplainedDecision[] = [];
  for (const event of events) {
    if (event.seq > upTo) break;
    const choice = choices.of(event);
    if (
      choice === undefined ||
      (components !== undefined && !components.includes(choice.component))
    )
      continue;
    const place = places.of(event);
    if (run !== undefined && place.run !== run) continue;
    const { component, decision, why, alternatives = [], data } = choice;
    const what = decisionSentence(defined({ component, decision, data }), place.agent ?? 'the run');
    explained.push({
      seq: event.seq,
      at: event.at,
      ...defined({ session }),
      ...place,
      component,
      decision,
      what,
      why,
      alternatives,
      by: event.by,
      ...defined({ data }),
    });
  }
  return explained;
}

const explainChecks: OptionChecks<ExplainOptions> = {
  run: isText,
  components: isListOfText,
  upTo: isNumber,
};
