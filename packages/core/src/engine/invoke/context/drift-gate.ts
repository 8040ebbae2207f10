import type { CancelScope } from '../../../base/cancel-scope.ts';
import type { EffectRecord } from '../../../effects/body-effect/ports.ts';
import { LedgerMismatchError } from '../../../ledger/errors.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import { slotOf } from '../../../ledger/path.ts';
import { Activity } from '../../frame/activity.ts';
import type { Invokable, Slot } from '../../frame/invocation.ts';
import { isPartOfLifecycle } from '../../frame/lifecycle.ts';
import { assertSame } from '../recorded-slot.ts';
import { openEffects } from './body-effects.ts';
import type { BodyPlace } from './body-place.ts';

/**
 * Bounds of the patience, in milliseconds, with a body that may still ask for its recorded
 * children. The promises that a body awaits are invisible to the engine. The body gets twice the
 * time that it took the last time, within these bounds.
 */
const leastPatienceMs = 5_000;
const mostPatienceMs = 60_000;

/** Open child or effect of an earlier execution of the body that this one has not asked for. */
interface Recorded {
  readonly id: string;
  /**
   * Kind and name, or `effect`: a child or effect of an equal likeness may replace it in edited
   * code.
   */
  readonly likeness: string;
  /** End of the names of all calls with its input, when the app has no runnable of its name. */
  readonly unknownWith: string | undefined;
  readonly text: string;
  /** Recorded start of the child or effect in epoch milliseconds. */
  readonly askedAt: number;
}

interface WaitingStart {
  readonly id: string;
  readonly likeness: string;
  readonly text: string;
  readonly settle: (goesOn: boolean) => void;
}

/** Parts of a body that the gate needs. */
export interface GateBody {
  readonly place: BodyPlace;
  /** Returns the recorded effects of the body, by id. */
  readonly effects: () => ReadonlyMap<string, EffectRecord>;
  /** Ends the body without recording anything. */
  readonly refuse: (error: LedgerMismatchError) => void;
}

/**
 * Delays new children and effects of a body that runs again: children while an open child has not
 * been asked for, effects while an open effect has not. The recorded ones were asked for without
 * the outcome of unrecorded ones. So unchanged code asks for them again, in whatever order its
 * branches run. Code that passes another input now is refused before it has begun anything: a
 * ledger with children of two versions of the code could be continued by neither. Code that asks
 * for something else goes on once it has nothing else to wait for, unless that takes the place of
 * what is open.
 */
export class DriftGate {
  readonly #body: GateBody;
  readonly #place: BodyPlace;
  /** Recorded children and effects not asked for yet; `undefined` before the first look. */
  #missing: Map<string, Recorded> | undefined;
  readonly #waiting = new Set<WaitingStart>();
  /**
   * Number of children and effects that may begin and have not yet. Those asked for meanwhile begin
   * after them, so that each begins with its own writes.
   */
  #beginning = 0;
  #refusal: LedgerMismatchError | undefined;
  #isJudging = false;
  /** True when the body has had its time to ask for what is open. */
  #hasWaited = false;
  #cancelTimer: () => void = () => undefined;

  constructor(body: GateBody) {
    this.#body = body;
    this.#place = body.place;
  }

  /**
   * Notes that the body asks for a child that the ledger has. When that is an open one of another
   * kind, name or input, nothing new begins any more.
   */
  askedChild(recorded: InvocationRecord, asked: Pick<Slot, 'runnable' | 'input'>): void {
    try {
      if (recorded.end === undefined) assertSame(recorded, asked);
    } catch (error) {
      this.#refuse(error as LedgerMismatchError);
      return;
    }
    this.#asked(recorded.path);
  }

  askedEffect(id: string): void {
    this.#asked(id);
  }

  /**
   * Delays a child that the ledger does not have, if needed. Resolves to true when it may
   * begin, and to false when it never will. `undefined`: it may begin at once.
   */
  delayChild(
    path: string,
    { kind, name }: Invokable,
    scope: CancelScope,
  ): Promise<boolean> | undefined {
    return this.#delay(
      { id: path, likeness: `${kind} ${name}`, text: `another one, "${path}"` },
      scope,
    );
  }

  delayEffect(id: string, scope: CancelScope): Promise<boolean> | undefined {
    return this.#delay({ id, likeness: effectLikeness, text: `another one, "${id}"` }, scope);
  }

  /**
   * Returns the error of a body that ends while something waits for its start; `undefined`: nothing
   * does.
   */
  mismatch(): LedgerMismatchError | undefined {
    const [start] = this.#waiting;
    return this.#refusal ?? (start === undefined ? undefined : this.#mismatchOf(start));
  }

  /** Ends the gate with its body: children and effects that wait never begin. */
  close(): void {
    this.#cancelTimer();
    for (const start of [...this.#waiting]) start.settle(false);
  }

  #asked(id: string): void {
    this.#missing ??= this.#recorded();
    this.#missing.delete(id);
    const all = [...this.#waiting];
    if (all.length === 0) return;
    if (all.every((start) => !this.#isEarly(start))) for (const start of all) start.settle(true);
    this.#arm();
  }

  #delay(asked: Omit<WaitingStart, 'settle'>, scope: CancelScope): Promise<boolean> | undefined {
    this.#missing ??= this.#recorded();
    if (this.#refusal !== undefined) return Promise.resolve(false);
    // A child or effect beside a waiting one may follow from it, such as from a dispatched child.
    if (this.#waiting.size === 0 && !this.#isEarly(asked))
      return this.#beginning === 0 ? undefined : this.#begins(Promise.resolve(true));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // The run does not yield as long as it is unknown if this one may begin.
    const node = new Activity(asked.id, this.#place.activity());
    node.judgeBy(() => (this.#isJudging ? 'waiting' : 'busy'));
    const start: WaitingStart = {
      ...asked,
      settle: (goesOn) => {
        if (!this.#waiting.delete(start)) return;
        forget();
        node.end();
        if (goesOn) void this.#begins(promise);
        resolve(goesOn);
      },
    };
    this.#waiting.add(start);
    let forget: () => void = () => undefined;
    forget = scope.onAbort(() => start.settle(false));
    this.#arm();
    return promise;
  }

  /** Counts a child or effect that may begin until right before it does. */
  #begins(goesOn: Promise<boolean>): Promise<boolean> {
    this.#beginning++;
    void goesOn.then(() => void this.#beginning--);
    return goesOn;
  }

  /**
   * True when only calls count, as in a tool. Its spawned and dispatched children go on whether or
   * not it asks for them.
   */
  get #callsOnly(): boolean {
    return this.#place.ownerScope !== undefined;
  }

  /** True as long as a child or effect waits for recorded ones to be asked for. */
  #isEarly(start: Pick<WaitingStart, 'id' | 'likeness'>): boolean {
    if (this.#firstMissing(start) !== undefined) return true;
    if (this.#hasWaited || start.likeness === effectLikeness) return false;
    return [...(this.#missing?.values() ?? [])].some(({ likeness }) => likeness !== effectLikeness);
  }

  #firstMissing({ id, likeness }: Pick<WaitingStart, 'id' | 'likeness'>): Recorded | undefined {
    for (const recorded of this.#missing?.values() ?? []) {
      // A runnable that the app does not know any more may have a new name. A child of another name
      // with the same input shows that.
      const isRenamed = recorded.unknownWith !== undefined && id.endsWith(recorded.unknownWith);
      if (recorded.likeness === likeness || isRenamed) return recorded;
    }
    return undefined;
  }

  /**
   * Returns the open children and effects of earlier executions. It runs when the body first asks
   * for one, so that nothing of this execution is included.
   */
  #recorded(): Map<string, Recorded> {
    const { run, path, childRoot, acceptsDrift, base } = this.#place;
    const missing = new Map<string, Recorded>();
    const record =
      base === undefined || acceptsDrift === true
        ? undefined
        : run.ledger.invocations.byPath.get(path);
    if (record === undefined) return missing;
    const tree = run.ledger.invocations;
    for (const child of record.children) {
      const slot = slotOf(child);
      const first = tree.byPath.get(slot);
      if (
        first === undefined ||
        !slot.startsWith(`${childRoot}/`) ||
        isPartOfLifecycle(slot) ||
        hasOutcome(tree, slot)
      )
        continue;
      if (this.#callsOnly && first.mode !== 'call') continue;
      const { kind, name, start, inputHash } = first;
      const isUnknown =
        inputHash !== undefined &&
        slot.endsWith(`/${name}#${inputHash}`) &&
        !run.app.registry.has(name);
      const unknownWith = isUnknown ? `#${inputHash}` : undefined;
      missing.set(slot, {
        id: slot,
        likeness: `${kind} ${name}`,
        text: `the open ${kind} "${slot}"`,
        askedAt: start.at,
        unknownWith,
      });
    }
    for (const { id, at } of openEffects(this.#body.effects()))
      missing.set(id, {
        id,
        likeness: effectLikeness,
        text: `the open effect "${id}"`,
        askedAt: at,
        unknownWith: undefined,
      });
    return missing;
  }

  #arm(): void {
    this.#cancelTimer();
    if (this.#waiting.size === 0) return;
    const { run } = this.#place;
    this.#cancelTimer = run.app.clock.setTimer(this.#patience(), () => this.#judge());
  }

  #patience(): number {
    const { run, path } = this.#place;
    const record = run.ledger.invocations.byPath.get(path) as InvocationRecord;
    const missing = [...(this.#missing?.values() ?? [])];
    const took = missing.map(({ askedAt }) => {
      const began = record.events.findLast(
        ({ type, at }) =>
          (type === 'invocation_start' || type === 'invocation_resume') && at <= askedAt,
      );
      return askedAt - (began?.at ?? record.start.at);
    });
    return Math.min(mostPatienceMs, Math.max(leastPatienceMs, 2 * Math.max(0, ...took)));
  }

  /** Refuses the body when nothing is left that could let it ask for the missing ones. */
  #judge(): void {
    const [start] = this.#waiting;
    if (start === undefined) return;
    const { ledger } = this.#place.run;
    // A recorded outcome may wait for the store before the body gets it.
    if (ledger.failure === undefined && (ledger.durableSeq < ledger.lastSeq || !this.#allWaits())) {
      this.#arm();
      return;
    }
    const all = [...this.#waiting];
    const replacing = all.find((one) => this.#firstMissing(one) !== undefined);
    if (replacing !== undefined) {
      this.#refuse(this.#mismatchOf(replacing));
      return;
    }
    this.#hasWaited = true;
    for (const one of all) one.settle(true);
  }

  #refuse(error: LedgerMismatchError): void {
    this.#refusal ??= error;
    this.#body.refuse(this.#refusal);
    this.close();
  }

  /** True when all work of the body waits, for the outside or for its start. */
  #allWaits(): boolean {
    this.#isJudging = true;
    try {
      return this.#place.activity().isWaiting;
    } finally {
      this.#isJudging = false;
    }
  }

  #mismatchOf(start: WaitingStart): LedgerMismatchError {
    const { childRoot } = this.#place;
    const accept = this.#callsOnly
      ? ''
      : ", or let the step leave it behind with `onDrift: 'accept'`, as a step needs whose " +
        'branches share a lock';
    return new LedgerMismatchError({
      path: childRoot,
      recorded: this.#firstMissing(start)?.text ?? 'something else',
      found: `${start.text}, and does not ask for it any more`,
      advice:
        'Nothing has been begun. Ask for it as before (by its `key`, or without one with ' +
        'the same input), and give another call ' +
        `a \`key\` of its own${accept}.`,
    });
  }
}

const effectLikeness = 'effect';
