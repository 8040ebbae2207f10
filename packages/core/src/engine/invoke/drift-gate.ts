import type { CancelScope } from '../../base/cancel-scope.ts';
import type { EffectRecord } from '../../effects/recorded-effect.ts';
import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Runnable } from '../../session/runnable.ts';
import { Activity } from '../frame/activity.ts';
import { isPartOfLifecycle } from '../frame/lifecycle.ts';
import { openEffects } from './body-effects.ts';
import type { BodyPlace } from './body-place.ts';

/**
 * Milliseconds in which a body that waits for nothing of ours may still come to ask for what it has
 * asked for before. Nobody sees what a body awaits itself, so it gets twice the time that it took
 * the last time, within these bounds.
 */
const leastPatienceMs = 5_000;
const mostPatienceMs = 60_000;

/**
 * Something that the ledger has open of an earlier execution of the body, and that this one has not
 * asked for.
 */
interface Recorded {
  readonly id: string;
  /** What may stand in its place in code that was edited. */
  readonly likeness: string;
  /**
   * The end of the names of all calls with its input, when there is no runnable of its name in the
   * app.
   */
  readonly unknownWith: string | undefined;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly askedAt: number;
}

interface Held {
  readonly id: string;
  readonly likeness: string;
  readonly text: string;
  readonly settle: (goesOn: boolean) => void;
}

/** What the gate needs of the body whose children it looks at. */
export interface GateBody {
  readonly place: BodyPlace;
  /** What the ledger has of the effects of the body. */
  readonly effects: () => ReadonlyMap<string, EffectRecord>;
  /** Ends the body without anything being recorded. */
  readonly refuse: (error: LedgerMismatchError) => void;
}

/**
 * Holds back what a body that runs again asks for and the ledger does not have, as long as an open
 * child of the same runnable, or an open effect, has not been asked for. What the ledger has was
 * asked for without the outcome of what it does not have, so unchanged code comes to ask for it, in
 * whatever order its branches run. Code that passes another input now never does, and would pay
 * twice before that is noticed: it is refused once it has nothing else to wait for.
 */
export class DriftGate {
  readonly #body: GateBody;
  readonly #place: BodyPlace;
  /** `undefined`: nobody has looked yet. */
  #missing: Map<string, Recorded> | undefined;
  readonly #held = new Set<Held>();
  /**
   * How many of those that may begin have not yet: what is asked for meanwhile begins after them,
   * so that each begins with its own writes.
   */
  #beginning = 0;
  #refusal: LedgerMismatchError | undefined;
  #isJudging = false;
  #cancelTimer: () => void = () => undefined;

  constructor(body: GateBody) {
    this.#body = body;
    this.#place = body.place;
  }

  /** The body asks for a child that the ledger has. */
  askedChild(path: string): void {
    this.#asked(path);
  }

  askedEffect(id: string): void {
    this.#asked(id);
  }

  /**
   * Whether a child that the ledger does not have may begin; `false`: it never will. `undefined`:
   * it may begin at once.
   */
  holdChild(
    path: string,
    { kind, name }: Runnable,
    scope: CancelScope,
  ): Promise<boolean> | undefined {
    return this.#hold(
      { id: path, likeness: `${kind} ${name}`, text: `another one, "${path}"` },
      scope,
    );
  }

  holdEffect(id: string, scope: CancelScope): Promise<boolean> | undefined {
    return this.#hold({ id, likeness: effectLikeness, text: `another one, "${id}"` }, scope);
  }

  /** Why the body cannot end like this; `undefined`: nothing is held back. */
  mismatch(): LedgerMismatchError | undefined {
    const [held] = this.#held;
    return this.#refusal ?? (held === undefined ? undefined : this.#mismatchOf(held));
  }

  /** The body has ended: what is held back never begins. */
  close(): void {
    this.#cancelTimer();
    for (const held of [...this.#held]) held.settle(false);
  }

  #asked(id: string): void {
    this.#missing ??= this.#recorded();
    this.#missing.delete(id);
    const all = [...this.#held];
    if (all.length === 0) return;
    if (all.every((held) => this.#firstMissing(held) === undefined))
      for (const held of all) held.settle(true);
    this.#arm();
  }

  #hold(asked: Omit<Held, 'settle'>, scope: CancelScope): Promise<boolean> | undefined {
    this.#missing ??= this.#recorded();
    if (this.#refusal !== undefined) return Promise.resolve(false);
    // What goes on beside something that is held back may follow from it, as from what is
    // dispatched.
    if (this.#held.size === 0 && this.#firstMissing(asked) === undefined)
      return this.#beginning === 0 ? undefined : this.#begins(Promise.resolve(true));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // As long as it is not known what comes of it the run does not rest.
    const node = new Activity(asked.id, this.#place.activity());
    node.judgeBy(() => (this.#isJudging ? 'waiting' : 'busy'));
    const held: Held = {
      ...asked,
      settle: (goesOn) => {
        if (!this.#held.delete(held)) return;
        forget();
        node.end();
        if (goesOn) void this.#begins(promise);
        resolve(goesOn);
      },
    };
    this.#held.add(held);
    let forget: () => void = () => undefined;
    forget = scope.onAbort(() => held.settle(false));
    this.#arm();
    return promise;
  }

  /** Counts what may begin until right before it does. */
  #begins(goesOn: Promise<boolean>): Promise<boolean> {
    this.#beginning++;
    void goesOn.then(() => void this.#beginning--);
    return goesOn;
  }

  /**
   * Whether only what the body waits for counts: what a tool began beside itself goes on whether or
   * not it asks for it.
   */
  get #callsOnly(): boolean {
    return this.#place.ownerScope !== undefined;
  }

  #firstMissing({ id, likeness }: Pick<Held, 'id' | 'likeness'>): Recorded | undefined {
    for (const recorded of this.#missing?.values() ?? []) {
      // What the app does not know any more has another name now, when something of another name is
      // asked for with the same input.
      const isRenamed = recorded.unknownWith !== undefined && id.endsWith(recorded.unknownWith);
      if (recorded.likeness === likeness || isRenamed) return recorded;
    }
    return undefined;
  }

  /**
   * What is open of earlier executions: the body asks for its first now, so that nothing of this
   * one is among it.
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
      const slot = child.replace(/>[^/]*$/, '');
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
    if (this.#held.size === 0) return;
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

  /** Refuses the body when nothing is left that could let it ask for what is missing. */
  #judge(): void {
    const [held] = this.#held;
    if (held === undefined) return;
    const { ledger } = this.#place.run;
    // What was recorded may wait for the store before it is handed out.
    if (ledger.failure === undefined && (ledger.durableSeq < ledger.lastSeq || !this.#isAtRest())) {
      this.#arm();
      return;
    }
    this.#refusal = this.#mismatchOf(held);
    this.#body.refuse(this.#refusal);
    this.close();
  }

  /** Whether all that the body has under way waits for somebody outside, or is held back. */
  #isAtRest(): boolean {
    this.#isJudging = true;
    try {
      return this.#place.activity().isWaiting;
    } finally {
      this.#isJudging = false;
    }
  }

  #mismatchOf(held: Held): LedgerMismatchError {
    const { childRoot } = this.#place;
    const accept = this.#callsOnly
      ? ''
      : ", or let the step leave it behind with `onDrift: 'accept'`, as a step needs whose " +
        'branches share a lock';
    return new LedgerMismatchError({
      path: childRoot,
      recorded: this.#firstMissing(held)?.text ?? 'something else',
      found: `${held.text}, and does not ask for it any more`,
      advice:
        'Nothing has been begun. Ask for it as before (by its `key`, or without one with ' +
        'the same input), and give another call ' +
        `a \`key\` of its own${accept}.`,
    });
  }
}

const effectLikeness = 'effect';
