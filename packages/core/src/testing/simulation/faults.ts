import type { Draws } from './draws.ts';

/**
 * Kinds of faults.
 * - `stop`: a process is killed, before or after a call of a port acts.
 * - `pause`: a process stands still before it gets an answer of the store, and goes on later.
 * - `deploy`: a process is closed in order and started again, with the next version of the code.
 * - `lostAnswer`: the store acts, and the caller gets an error.
 * - `refusedCall`: the store does not act, and the caller gets an error.
 * - `slowStore`: the store answers late, up to twice the time of a lease.
 * - `doublePost`: an item is posted again, some time later.
 * - `clockJump`: the wall clock of a machine is set, forwards or backwards.
 * - `slowModel`: a model takes long, up to twenty minutes.
 * - `modelError`: a model refuses a call (overload, limit of rate, lost connection), or its answer
 *   is lost.
 * - `slowTool`: a tool or an effect takes as long, and may go on after it is told to end.
 * - `toolError`: a tool or an effect fails, before or after it has acted.
 * - `doubleAnswer`: two people answer one request, at two processes.
 * - `message`: somebody sends another message while a run is under way.
 * - `hold`: somebody pauses a session, and lets it go on later.
 * - `cancel`: somebody cancels a run.
 */
export type FaultKind =
  | 'stop'
  | 'pause'
  | 'deploy'
  | 'lostAnswer'
  | 'refusedCall'
  | 'slowStore'
  | 'doublePost'
  | 'clockJump'
  | 'slowModel'
  | 'modelError'
  | 'slowTool'
  | 'toolError'
  | 'doubleAnswer'
  | 'message'
  | 'hold'
  | 'cancel';

/** Probability of each kind at each place where it may happen. Missing kinds do not happen. */
export type FaultRates = Readonly<Partial<Record<FaultKind, number>>>;

/** Probabilities at which most runs meet a few faults of each kind. */
export const usualRates: Required<FaultRates> = Object.freeze({
  stop: 0.01,
  pause: 0.003,
  deploy: 0.3,
  lostAnswer: 0.01,
  refusedCall: 0.01,
  slowStore: 0.005,
  doublePost: 0.05,
  clockJump: 0.5,
  slowModel: 0.03,
  modelError: 0.03,
  slowTool: 0.03,
  toolError: 0.05,
  doubleAnswer: 0.1,
  message: 0.1,
  hold: 0.1,
  cancel: 0.08,
});

/** A fault that happened: its kind, and the place and time of its draw. */
export interface Fault {
  readonly kind: FaultKind;
  /** `p1/append#12`: the twelfth append of the machine `p1`. */
  readonly place: string;
  /** Path of the invocation or call that it met. Missing: it met all work of its process. */
  readonly subject?: string | undefined;
}

/** Name of a fault in lists of allowed faults. */
export function faultName({ kind, place }: Fault): string {
  return `${kind}@${place}`;
}

export interface FaultPlanOptions {
  readonly rates: FaultRates;
  /** Names of the only faults that may happen, for shorter stories. @default all */
  readonly only?: ReadonlySet<string> | undefined;
}

/**
 * The faults of one seed. Of the kinds that may happen, a seed has some: those that all have all
 * kinds resemble each other.
 */
export class FaultPlan {
  readonly happened: Fault[] = [];
  /** Called for each fault that happens. */
  onFault: (fault: Fault) => void = () => undefined;
  readonly #draws: Draws;
  readonly #rates: FaultRates;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #counts = new Map<string, number>();
  #isOver = false;

  constructor(draws: Draws, { rates, only }: FaultPlanOptions) {
    this.#draws = draws.part('faults');
    this.#only = only;
    const kinds = Object.entries(rates) as [FaultKind, number][];
    this.#rates = Object.fromEntries(
      kinds
        .filter(([kind]) => this.#draws.at(`has ${kind}`) < 0.6)
        .map(([kind, rate]) => [kind, rate * this.#draws.delay(`rate ${kind}`, 0.3, 3)]),
    );
  }

  /** No fault happens from now on: what was disturbed is to come to its end. */
  end(): void {
    this.#isOver = true;
  }

  /** True when this seed may have faults of a kind. */
  has(kind: FaultKind): boolean {
    return this.#rates[kind] !== undefined;
  }

  /** Number of a call at a place, counted from 1. */
  visit(place: string): string {
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return `${place}#${count}`;
  }

  /**
   * Draws if a fault happens at a visited place.
   * @param share part of the usual rate, for places that are visited very often
   * @param subject path of the invocation or call that alone would meet it
   */
  happens(kind: FaultKind, visited: string, share = 1, subject?: string): boolean {
    const rate = (this.#rates[kind] ?? 0) * share;
    if (this.#isOver || rate === 0 || this.#draws.at(`${kind} ${visited}`) >= rate) return false;
    const fault = { kind, place: visited, subject };
    if (this.#only !== undefined && !this.#only.has(faultName(fault))) return false;
    this.happened.push(fault);
    this.onFault(fault);
    return true;
  }
}
