import { defined } from '../../../base/defined.ts';
import { isPlainObject, type JsonObject } from '../../../base/json.ts';
import { nearestName } from '../../../base/nearest-name.ts';
import { describeValue } from '../../../base/options.ts';
import type { Event } from '../../../ledger/event.ts';
import { stateFold } from '../../../ledger/folds/state-fold.ts';
import { type ExplainedDecision, explain } from '../../../views/explain.ts';
import { nearestOf } from './conversation-matchers.ts';
import { refuseUse } from './errors.ts';
import { type ReadSource, readSource } from './ledger-source.ts';
import { isAsymmetric, literal, oneLine, shortened } from './literal.ts';
import {
  contains,
  failure,
  listed,
  type MatcherResult,
  type RunnerContext,
} from './matcher-context.ts';
import type { DecisionPattern } from './matcher-types.ts';

const longestLine = 200;
/** Names of all event types, taken from a fold that has all of them. */
const knownTypes: readonly string[] = Object.keys(stateFold);

export function toHaveEvent(
  this: RunnerContext,
  received: unknown,
  expected: unknown,
): MatcherResult {
  const source = readSource('toHaveEvent', received);
  const pattern = readEventPattern('toHaveEvent', expected);
  const matching = source.events.filter((event) => eventFits(this, source, event, pattern));
  const { type } = pattern;
  const { utils } = this;
  return {
    pass: matching.length > 0,
    message: () => {
      const wanted = utils.EXPECTED_COLOR(literal(pattern));
      const ofType =
        typeof type === 'string'
          ? source.events.filter((event) => event.type === type)
          : source.events;
      const where = (events: readonly Event[]): readonly string[] =>
        events.map((event) => {
          const shown = literal(shownOf(source.resolve(event) as Event, pattern));
          return `seq ${event.seq} ${utils.RECEIVED_COLOR(shortened(shown, longestLine))}`;
        });
      const account = this.isNot
        ? listed('It is there:', where(matching), '')
        : typeof type !== 'string'
          ? [
              `None of ${source.events.length} events has these members. Types that there ` +
                `are: ${countTypes(source.events)}`,
            ]
          : ofType.length > 0
            ? listed(`Events of type ${type}:`, where(ofType), '')
            : [
                `There is no event of type ${type}. Types that there are: ` +
                  `${countTypes(source.events)}`,
              ];
      return failure(this, { name: 'toHaveEvent', received: source.kind, expected: 'event' }, [
        `Expected event: ${this.isNot ? 'not ' : ''}${wanted}`,
        ...account,
        ...(this.isNot
          ? []
          : nearestDifference(
              this,
              ofType.map((event) => source.resolve(event)),
              pattern,
            )),
      ]);
    },
  };
}

/**
 * Returns the pattern of an event.
 * @throws InvalidMatcherUseError for one that no event can fit
 */
export function readEventPattern(
  matcher: string,
  expected: unknown,
): Readonly<Record<string, unknown>> {
  const refuse = (reason: string): never => refuseUse(matcher, reason);
  if (!isPlainObject(expected))
    return refuse(
      'an event must be given as an object with some of its members, not ' +
        `${describeValue(expected)}`,
    );
  if (Object.keys(expected).length === 0) return refuse('an event without members is every event');
  const { type } = expected;
  if (typeof type === 'string' && !knownTypes.includes(type)) {
    const nearest = nearestName(type, knownTypes);
    const hint =
      nearest === undefined ? `there are ${knownTypes.join(', ')}` : `did you mean "${nearest}"?`;
    return refuse(`there is no event type "${type}" (${hint})`);
  }
  return expected;
}

export function eventFits(
  context: RunnerContext,
  { resolve }: ReadSource,
  event: Event,
  pattern: Readonly<Record<string, unknown>>,
): boolean {
  // Most events are of another type; large values of those need not be looked at.
  if (typeof pattern['type'] === 'string' && event.type !== pattern['type']) return false;
  return contains(context, resolve(event), pattern);
}

/**
 * Returns the members of an event that the pattern names; all but its envelope for a pattern with a
 * type alone.
 */
function shownOf(event: Event, pattern: Readonly<Record<string, unknown>>): unknown {
  const {
    v: _v,
    seq: _seq,
    id: _id,
    at: _at,
    type: _type,
    by: _by,
    invocationId: _invocationId,
    ...members
  } = event;
  const named = Object.keys(pattern).filter((member) => member !== 'type');
  if (named.length === 0) return members;
  return Object.fromEntries(
    named.flatMap((member) =>
      Object.hasOwn(event, member) ? [[member, event[member as keyof Event]]] : [],
    ),
  );
}

function countTypes(events: readonly Event[]): string {
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  return (
    [...counts].map(([type, count]) => (count === 1 ? type : `${type} (${count})`)).join(', ') ||
    'none'
  );
}

/**
 * Describes how the pattern differs from the most similar value, in the members of the pattern
 * only.
 */
function nearestDifference(
  context: RunnerContext,
  values: readonly unknown[],
  pattern: Readonly<Record<string, unknown>>,
): readonly string[] {
  const nearest = nearestOf(values, pattern, (value) => value, context);
  if (nearest === undefined || Object.keys(pattern).every((member) => member === 'type')) return [];
  const found = onlyNamed(nearest, pattern);
  if (isPlainObject(found) && Object.keys(found).length === 0) return [];
  const diff = context.utils.diff(pattern, found);
  return typeof diff === 'string' ? ['', 'Difference to the nearest:', '', diff] : [];
}

function onlyNamed(value: unknown, pattern: unknown): unknown {
  if (!isPlainObject(pattern) || isAsymmetric(pattern) || !isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.keys(pattern).flatMap((key) =>
      Object.hasOwn(value, key) ? [[key, onlyNamed(value[key], pattern[key])]] : [],
    ),
  );
}

const decisionMembers: readonly (keyof DecisionPattern)[] = [
  ...([
    'component',
    'decision',
    'why',
    'reasoning',
    'what',
    'alternatives',
    'data',
    'by',
    'agent',
    'path',
    'run',
    'seq',
  ] as const),
];

export function toHaveDecision(
  this: RunnerContext,
  received: unknown,
  expected: unknown,
): MatcherResult {
  const source = readSource('toHaveDecision', received);
  const pattern = readDecisionPattern(expected);
  const decisions = decisionsOf(source);
  const found = decisions.filter((decision) => contains(this, decision, pattern));
  const { utils } = this;
  const shown = (which: readonly ExplainedDecision[]): readonly string[] =>
    which.map(
      ({ component, decision, why }) =>
        `${utils.RECEIVED_COLOR(`${component}: ${decision}`)}  ` +
        `${shortened(oneLine(why), longestLine)}`,
    );
  return {
    pass: found.length > 0,
    message: () =>
      failure(this, { name: 'toHaveDecision', received: source.kind, expected: 'decision' }, [
        `Expected decision: ${this.isNot ? 'not ' : ''}${utils.EXPECTED_COLOR(literal(pattern))}`,
        ...(this.isNot
          ? listed('It was made:', shown(found), '')
          : listed('Decisions:', shown(decisions), 'Nothing was decided.')),
        ...(this.isNot ? [] : nearestDifference(this, alike(decisions, pattern), pattern)),
      ]),
  };
}

/**
 * Returns the decisions of the component in the pattern: those of other components are not similar.
 */
function alike(
  decisions: readonly ExplainedDecision[],
  { component }: Readonly<Record<string, unknown>>,
): readonly ExplainedDecision[] {
  return typeof component === 'string'
    ? decisions.filter((decision) => decision.component === component)
    : decisions;
}

function readDecisionPattern(expected: unknown): Readonly<Record<string, unknown>> {
  const refuse = (reason: string): never => refuseUse('toHaveDecision', reason);
  if (!isPlainObject(expected))
    return refuse(
      'a decision must be given as an object with some of its members, not ' +
        `${describeValue(expected)}`,
    );
  const members = Object.keys(expected);
  if (members.length === 0) return refuse('a decision without members is every decision');
  const stranger = members.find(
    (member) => !(decisionMembers as readonly string[]).includes(member),
  );
  if (stranger !== undefined) {
    const nearest = nearestName(stranger, decisionMembers);
    const hint =
      nearest === undefined
        ? `they have ${decisionMembers.join(', ')}`
        : `did you mean \`${nearest}\`?`;
    return refuse(`decisions have no \`${stranger}\` (${hint})`);
  }
  return expected;
}

/**
 * Returns the decisions of the source as `explain` describes them, also under the member names of
 * events.
 */
function decisionsOf({
  events,
  resolve,
  session,
  run,
}: ReadSource): readonly (ExplainedDecision & { readonly reasoning: string })[] {
  const whole = session ?? (resolve(events) as readonly Event[]);
  const explained = explain(whole, defined({ run }));
  return explained.map(
    (decision): ExplainedDecision & { readonly reasoning: string; readonly data?: JsonObject } => ({
      ...decision,
      reasoning: decision.why,
    }),
  );
}
