import type { TestClock } from '../../../base/clocks/test-clock.ts';
import type { IdSource } from '../../../base/id.ts';
import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isFunction,
  isObject,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../../../base/options.ts';
import type { Random } from '../../../base/random.ts';
import type { RuntimeOptions } from '../../../engine/app/runtime-options.ts';
import type { RunLimits, SessionOptions } from '../../../engine/frame/run-options.ts';
import type { StreamEvent } from '../../../ledger/event.ts';
import { isLane } from '../../../ledger/folds/lanes.ts';
import type { Store } from '../../../ledger/port.ts';
import type { Session } from '../../../session/session.ts';
import type { LooseSnapshot, SessionSnapshot } from '../../../session/session-snapshot.ts';
import { InvalidTestError } from './errors.ts';

export interface RunTestOptions {
  /**
   * Store of the ledger; the test does not close it. A function gets the clock of the test, so that
   * the store can use it too.
   * @default a store in memory
   */
  readonly store?: Store | ((clock: TestClock) => Store);
  /**
   * The clock of the test. @default one that begins at 2026-01-01T00:00:00Z; with a `store` that
   * has its own time, now
   */
  readonly clock?: TestClock;
  /**
   * Options of the runtime: tools for all agents, hooks, supervision, permissions, `stateSchema`, …
   * `app` is 'test' by default.
   */
  readonly runtime?: Partial<Omit<RuntimeOptions, 'store' | 'recover' | 'ports'>>;
  /**
   * Source of ids.
   * @default random ones
   */
  readonly ids?: IdSource;
  /**
   * Source of randomness, for the delays between attempts.
   * @default always the half
   */
  readonly random?: Random;
  /** The session: its id, scopes, user and permissions. @default a new one */
  readonly session?: SessionOptions;
  /**
   * State that the session begins with, by key; values for shared scopes under the names of these.
   */
  readonly state?: { readonly [key: string]: JsonValue };
  /** A session to continue, as `session.toJSON()` returned it. */
  readonly from?: SessionSnapshot | LooseSnapshot;
  /** Called with the session before the first step, to prepare it for the test. */
  readonly prepare?: (session: Session) => void | Promise<void>;
  /** Data for a run without a `user` step. */
  readonly data?: JsonValue;
  /**
   * Lane of the session that each run is in.
   * @default the default lane, which has no name
   */
  readonly lane?: string;
  /**
   * Name of the model of each run, as in `app.run`. Its answers are those of the script.
   * @default the model of the agent
   */
  readonly model?: string;
  /** Limits of each run. @default none */
  readonly limits?: Omit<RunLimits, 'timeoutMs'>;
  /** Milliseconds of active time of each run, on the clock of the test. @default 600_000 */
  readonly timeoutMs?: number;
  /**
   * Permissions of each run.
   * @default none
   */
  readonly permissions?: readonly string[];
  /** Called with each event of the runs, deltas included. */
  readonly onStream?: (event: StreamEvent) => void;
  /**
   * Real milliseconds that tools, steps and hooks may take without any event, before the run counts
   * as stuck.
   * @default 2_000
   */
  readonly patienceMs?: number;
}

const isClock: OptionCheck = (value) =>
  typeof (value as Partial<TestClock> | null)?.advance === 'function'
    ? undefined
    : 'a clock such as testClock()';
const isStore: OptionCheck = (value) =>
  typeof value === 'function' || typeof (value as Partial<Store> | null)?.for === 'function'
    ? undefined
    : 'a store such as memoryStore(), or a function that makes one: (clock) => ' +
      "sqlite('file.db', { clock })";
const isRuntime: OptionCheck = (value) => {
  if (isObject(value) !== undefined) return 'an object';
  const taken = Object.keys(value as object).find(
    (key) => key === 'store' || key === 'recover' || key === 'ports',
  );
  return (
    taken &&
    `an object without \`${taken}\`, which belongs to the test: use the options \`store\`, ` +
      '`clock`, `ids` and `random`'
  );
};
const isSnapshot: OptionCheck = (value) =>
  isObject(value) === undefined && Array.isArray((value as Partial<SessionSnapshot>).events)
    ? undefined
    : 'a recorded session: what session.toJSON() gave';
const isJson: OptionCheck = (value) => (findJsonDefect(value) === undefined ? undefined : 'JSON');

/** The runtime and its runs check the rest. */
const optionChecks: OptionChecks<RunTestOptions> = {
  store: isStore,
  clock: isClock,
  runtime: isRuntime,
  ids: isObject,
  random: isObject,
  session: isObject,
  state: (value) => isObject(value) ?? isJson(value),
  from: isSnapshot,
  prepare: isFunction,
  data: isJson,
  lane: isLane,
  model: isAnything,
  limits: isAnything,
  timeoutMs: isPositive,
  permissions: isAnything,
  onStream: isFunction,
  patienceMs: isPositive,
};

/** @throws InvalidTestError */
export function checkOptions(options: RunTestOptions): void {
  const invalid = findInvalidOption(options, optionChecks);
  if (invalid !== undefined)
    throw new InvalidTestError({ what: 'The options of runTest()', reason: invalid.reason });
}
