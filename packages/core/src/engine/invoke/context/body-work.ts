import type { EffectRecord } from '../../../effects/body-effect/ports.ts';
import type { LedgerMismatchError } from '../../../ledger/errors.ts';
import { Activity } from '../../frame/activity.ts';
import { effectsOf } from './body-effects.ts';
import { BodyKeys } from './body-keys.ts';
import type { BodyOwner } from './body-place.ts';
import type { BodyRelease } from './body-release.ts';
import { DriftGate } from './drift-gate.ts';
import { LandedWrites } from './landed-writes.ts';
import { RecordedOrder } from './recorded-order.ts';
import { RunningChildren } from './running-children.ts';

/**
 * Bookkeeping of the children and effects of one execution of a body. It is made with the first of
 * them: most tools have none.
 */
export class BodyWork {
  readonly body: BodyOwner;
  readonly release: BodyRelease;
  readonly keys = new BodyKeys();
  readonly children: RunningChildren;
  /** Questions and sleeps: the body may end before them, and ends them then. */
  readonly waits: RunningChildren;
  readonly landed: LandedWrites;
  /** Paths of the children that the body has asked for. */
  readonly asked = new Set<string>();
  #effects: ReadonlyMap<string, EffectRecord> | undefined;
  #order: RecordedOrder | undefined;
  #gate: DriftGate | undefined;

  constructor(body: BodyOwner, release: BodyRelease) {
    this.body = body;
    this.release = release;
    this.children = new RunningChildren(body.place.scope);
    this.waits = new RunningChildren(body.place.scope);
    this.landed = new LandedWrites(body);
  }

  /**
   * Gate that delays children and effects that an edited body asks for instead of recorded
   * ones.
   */
  get drift(): DriftGate {
    this.#gate ??= new DriftGate({
      place: this.body.place,
      effects: () => this.effects,
      refuse: (error) => this.release.refuse(error),
    });
    return this.#gate;
  }

  /** Effects that earlier executions of the body have recorded, by id. */
  get effects(): ReadonlyMap<string, EffectRecord> {
    this.#effects ??= effectsOf(this.body);
    return this.#effects;
  }

  /** Returns the error of a body that ends while something waits for its start. */
  mismatch(): LedgerMismatchError | undefined {
    return this.#gate?.mismatch();
  }

  /** Ends it with its body: children and effects that wait never begin. */
  close(): void {
    this.#gate?.close();
  }

  keyOf(childPath: string): string {
    return childPath.slice(this.body.place.childRoot.length + 1);
  }

  /**
   * Waits for the turn of an outcome that was recorded before the body asked for it. The turn is
   * taken at once. The body is not waiting meanwhile.
   */
  async inRecordedOrder(seq: number): Promise<void> {
    const { run, childRoot, activity } = this.body.place;
    const turn = new Activity(childRoot, activity());
    this.#order ??= new RecordedOrder(run.ledger.ports.host);
    await this.#order.turnOf(seq);
    turn.end();
  }

  /**
   * Waits until the recorded outcomes are given that the body has asked for: a new one comes after
   * them. `undefined` when there are none.
   */
  afterRecorded(): Promise<void> | undefined {
    if (this.#order?.isGiving !== true) return undefined;
    return this.inRecordedOrder(this.body.place.run.ledger.lastSeq);
  }
}
