import { afterThisTurn, type Clock, setBackgroundTimer, systemClock } from './clock.ts';
import { type IdSource, systemIds } from './id.ts';
import { type Random, systemRandom } from './random.ts';
import { systemTurns, type Turns } from './turns.ts';

/** A reference to an object that may be collected meanwhile, as `WeakRef` is one. */
export interface ObjectReference<Value extends object> {
  deref(): Value | undefined;
}

/**
 * The port through which a process uses its machine. The clock port of a runtime is the time of its
 * runs. The machine's clock here is for what is not part of a run: looks at a store, repeated
 * calls, and events that gather for one commit. A test clock does not hold them back; a simulation
 * does.
 */
export interface Host {
  /** Clock of the machine. */
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  /** Gives the turn of the event loop back in work that grows with a ledger. */
  readonly turns: Turns;
  /**
   * Name under which this process claims ledgers.
   * @default the name of the operating system's process
   */
  readonly owner?: string;
  /** As a timer of `clock`, but the process may end before it fires. */
  setBackgroundTimer(ms: number, task: () => void): () => void;
  /** Calls `task` when everything that is ready now has been done. */
  afterTurn(task: () => void): void;
  /**
   * Makes a reference that does not keep the object, unless memory is not collected here.
   * @param onCollected called some time after the object has been collected
   */
  reference<Value extends object>(value: Value, onCollected: () => void): ObjectReference<Value>;
  /** Reports a failure that no caller waits for. */
  warn(message: string, code: string): void;
}

const collected = new FinalizationRegistry<() => void>((tell) => tell());

/** The machine that this process runs on. */
export const systemHost: Host = Object.freeze({
  clock: systemClock,
  ids: systemIds,
  random: systemRandom,
  turns: systemTurns,
  setBackgroundTimer,
  afterTurn: afterThisTurn,
  reference: <Value extends object>(value: Value, onCollected: () => void) => {
    collected.register(value, onCollected);
    return new WeakRef(value);
  },
  warn: (message: string, code: string) =>
    process.emitWarning(message, { type: 'AdjutantWarning', code }),
});
