import { nearestName } from '../../../base/nearest-name.ts';
import { describeValue } from '../../../base/options.ts';
import { visibleValues } from '../../../ledger/folds/state-fold.ts';
import { type StateSnapshot, snapshotAt } from '../../../session/time-travel.ts';
import { refuseUse } from './errors.ts';
import { type ReadSource, readSource } from './ledger-source.ts';
import { literal, oneLine, shortened } from './literal.ts';
import {
  equal,
  failure,
  listed,
  type MatcherResult,
  type RunnerContext,
} from './matcher-context.ts';

const longestValue = 200;

export function toHaveState(
  this: RunnerContext,
  received: unknown,
  ...expected: unknown[]
): MatcherResult {
  const source = readSource('toHaveState', received);
  const [scope, key, value] = expected as [scope: string, key: string, value?: unknown];
  const values = valuesOf(source, scope, key);
  const isThere = Object.hasOwn(values, key);
  const isAnyWanted = expected.length < 3;
  const pass = isAnyWanted
    ? isThere
    : isThere
      ? equal(this, values[key], value) && value !== undefined
      : value === undefined;
  const { utils } = this;
  return {
    pass,
    message: () => {
      const not = this.isNot ? 'not ' : '';
      const wanted = isAnyWanted
        ? 'any value'
        : value === undefined
          ? 'no value'
          : utils.EXPECTED_COLOR(shortened(literal(value), longestValue));
      const found = isThere
        ? utils.RECEIVED_COLOR(shortened(literal(values[key]), longestValue))
        : 'no value';
      const diff =
        isThere && !this.isNot && isCompound(values[key]) && isCompound(value)
          ? utils.diff(value, values[key])
          : undefined;
      return failure(
        this,
        {
          name: 'toHaveState',
          received: source.kind,
          expected: isAnyWanted ? 'scope, key' : 'scope, key, value',
        },
        [
          `Expected ${scope} state ${key}: ${not}${wanted}`,
          `Received ${scope} state ${key}: ${found}`,
          ...(typeof diff === 'string' ? ['', diff] : []),
          ...(isThere ? [] : ['', ...keysOf(this, values, { scope, key })]),
        ],
      );
    },
  };
}

/** Lists the keys of a scope with their values, for a failure about a key that is missing. */
function keysOf(
  { utils }: RunnerContext,
  values: Readonly<Record<string, unknown>>,
  { scope, key }: { readonly scope: string; readonly key: string },
): readonly string[] {
  const keys = Object.keys(values).map((name) => {
    const value = utils.RECEIVED_COLOR(shortened(literal(values[name]), longestValue));
    return `${oneLine(name)} = ${value}`;
  });
  const nearest = nearestName(key, Object.keys(values));
  const hint = nearest === undefined ? '' : `Did you mean ${nearest}? `;
  return listed(`${hint}The ${scope} state has:`, keys, `The ${scope} state is empty.`);
}

function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function valuesOf(
  source: ReadSource,
  scope: unknown,
  key: unknown,
): Readonly<Record<string, unknown>> {
  const refuse = (reason: string): never => refuseUse('toHaveState', reason);
  if (typeof scope !== 'string' || scope === '')
    refuse(
      `the scope must be 'session' or the name of a shared scope, not ${describeValue(scope)}`,
    );
  if (typeof key !== 'string' || key === '')
    refuse(`the key must be a string that is not empty, not ${describeValue(key)}`);
  if (scope === 'temp') refuse('temporary state is not recorded, so no ledger has it');
  const scopes = scopesOf(source);
  const known = scopes.get(scope as string);
  if (known !== undefined) return known;
  const nearest = nearestName(scope as string, scopes.keys());
  const hint =
    nearest === undefined
      ? `it knows ${[...scopes.keys()].join(', ')}`
      : `did you mean "${nearest}"?`;
  return refuse(`the ${source.kind} knows no scope "${scope}" (${hint})`);
}

/** Returns the values of every scope in the ledger, by the name of the scope. */
function scopesOf(source: ReadSource): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const { session, resolve } = source;
  if (session === undefined) {
    const entries = Object.entries(wholeSnapshot('toHaveState', source)).filter(([member]) =>
      member.endsWith('State'),
    );
    return new Map(
      entries.map(([member, values]) => [
        member.slice(0, -'State'.length),
        values as Readonly<Record<string, unknown>>,
      ]),
    );
  }
  const { state } = session.ledger;
  const names = new Set(['session', ...Object.keys(state.scopes), ...session.shared.names]);
  return new Map(
    [...names].map((name) => [
      name,
      resolve(visibleValues(state, name)) as Readonly<Record<string, unknown>>,
    ]),
  );
}

/**
 * Folds a list of events into a snapshot of the state.
 * @throws InvalidMatcherUseError unless it is a ledger from its first event on
 */
export function wholeSnapshot(matcher: string, { events, resolve }: ReadSource): StateSnapshot {
  const gap = events.findIndex((event, index) => event.seq !== index + 1);
  if (gap >= 0) {
    const reason =
      `it needs a ledger from its first event on, and the event at index ${gap} has seq ` +
      `${describeValue(events[gap]?.seq)}; give it the session`;
    return refuseUse(matcher, reason);
  }
  return snapshotAt(events, events.length, resolve);
}
