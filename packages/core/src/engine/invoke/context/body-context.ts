import { AbortReason } from '../../../base/cancel-scope.ts';
import { sha256 } from '../../../base/hash.ts';
import { randomFromSeed } from '../../../base/random.ts';
import type { EffectRecord } from '../../../effects/body-effect/ports.ts';
import type { EventToPublish } from '../../../effects/publish/published-event.ts';
import type {
  BodyContext,
  CallOptions,
  CallResult,
  EffectContext,
  EffectOptions,
  SessionReader,
  SpawnHandle,
} from '../../../session/body-context.ts';
import type { Runnable } from '../../../session/runnable.ts';
import { createState, type StateAccess } from '../../../session/scoped-state.ts';
import type { StateOf, StateSchema } from '../../../session/state-types.ts';
import { InvocationEndedError } from '../../frame/errors.ts';
import { assertFact } from '../../frame/facts.ts';
import { inputOf } from '../input-contract.ts';
import { BodyState } from '../state/body-state.ts';
import { assertOutsideEffect, effectsOf } from './body-effects.ts';
import type { BodyOwner, BodyPlace } from './body-place.ts';
import { BodyPublications } from './body-publications.ts';
import { BodyRelease } from './body-release.ts';
import { BodyWork } from './body-work.ts';
import { callChild } from './called-child.ts';
import { performBodyEffect } from './performed-effect.ts';
import { dispatchChild, spawnChild } from './spawned-child.ts';
import { StateRefresh } from './state-refresh.ts';

export type { BodyPlace } from './body-place.ts';

/**
 * Context of steps and tools, with the members that the engine needs. Its parts are made when they
 * are needed: most tools need none of them.
 */
export class Body implements BodyContext, BodyOwner {
  readonly invocationId: string;
  readonly place: BodyPlace;
  readonly seqBefore: number;
  readonly #release = new BodyRelease();
  #writes: BodyState | undefined;
  #state: StateOf<StateSchema> | undefined;
  #work: BodyWork | undefined;
  #publications: BodyPublications | undefined;
  #ended = false;

  constructor(place: BodyPlace) {
    this.place = place;
    this.invocationId = place.path;
    this.seqBefore = place.run.ledger.lastSeq;
  }

  get writes(): BodyState {
    const { place, seqBefore } = this;
    this.#writes ??= new BodyState(place.run, { ...place, startedAt: seqBefore });
    return this.#writes;
  }

  /** True if there may be writes to take, or recorded ones that the body did not make again. */
  protected get hasWrites(): boolean {
    if (this.#writes !== undefined) return true;
    const { run, path, base } = this.place;
    return (
      base !== undefined &&
      run.ledger.invocations.byPath
        .get(path)
        ?.events.some(({ type }) => type === 'state_change') === true
    );
  }

  /** Bookkeeping of everything that the body asks for. */
  protected get asking(): BodyWork {
    this.#work ??= new BodyWork(this, this.#release);
    return this.#work;
  }

  get state(): StateOf<StateSchema> {
    this.#state ??= createState(
      this.#stateAccess(),
      this.place.stateSchema,
    ) as StateOf<StateSchema>;
    return this.#state;
  }

  /**
   * Returns the access to the state. After the body's end it can be read, and a write is refused:
   * it would land nowhere.
   */
  #stateAccess(): StateAccess {
    const { writes } = this;
    const refreshes = new StateRefresh(this);
    return {
      sharedScopes: writes.sharedScopes,
      temp: writes.temp,
      recordsUpdates: true,
      read: (scope, key) => writes.read(scope, key),
      peek: (scope) => writes.peek(scope),
      write: (scope, changes, update) => {
        this.assertOpen('state');
        assertOutsideEffect(this.place, 'state');
        writes.write(scope, changes, update);
      },
      refresh: (options) => refreshes.refresh(options?.key),
    };
  }

  get session(): SessionReader {
    return this.place.run.session;
  }

  get signal(): AbortSignal {
    return this.place.scope.signal;
  }

  async call<Output>(
    runnable: Runnable<Output>,
    options: CallOptions = {},
  ): Promise<CallResult<Output>> {
    const checked = inputOf(runnable, options);
    const input = checked instanceof Promise ? await checked : checked;
    return callChild(this.asking, runnable, input, options);
  }

  spawn<Output>(runnable: Runnable<Output>, options: CallOptions = {}): SpawnHandle<Output> {
    return spawnChild(this.asking, runnable, options);
  }

  dispatch(runnable: Runnable, options: CallOptions = {}): { readonly invocationId: string } {
    return dispatchChild(this.asking, runnable, options);
  }

  effect<Value>(
    key: string,
    run: (ctx: EffectContext) => Value | Promise<Value>,
    options: EffectOptions = {},
  ): Promise<Value> {
    let outcome: Promise<Value>;
    try {
      const callId = `${this.place.childRoot}/${key}`;
      outcome = performBodyEffect(this.asking, { key, callId, run, options }) as Promise<Value>;
    } catch (error) {
      return Promise.reject(error);
    }
    // The ledger has the failure: a rejection that nothing awaits must not end the process.
    outcome.catch(() => undefined);
    return outcome;
  }

  remember(text: string, options: { readonly key?: string } = {}): void {
    this.assertOpen('remember');
    assertOutsideEffect(this.place, 'remember');
    assertFact(text, options);
    this.writes.remember(text, options.key);
  }

  async publish(given: EventToPublish, options: { readonly key?: string } = {}): Promise<void> {
    this.assertOpen('publish');
    assertOutsideEffect(this.place, 'publish');
    this.#publications ??= new BodyPublications(this.place);
    await this.#publications.publish(given, options.key);
  }

  now(): number {
    this.assertOpen('now');
    return this.place.startedAt;
  }

  id(key: string): string {
    this.assertOpen('id');
    return sha256(this.#seedOf('id', key)).slice(0, 20);
  }

  random(key: string): number {
    this.assertOpen('random');
    return randomFromSeed(this.#seedOf('random', key));
  }

  #seedOf(use: 'id' | 'random', key: string): string {
    const { run, childRoot, startedAt } = this.place;
    return `${run.session.id}\n${childRoot}\n${startedAt}\n${use}\n${key}`;
  }

  assertOpen(method: string): void {
    if (this.#ended) throw new InvocationEndedError({ path: this.place.childRoot, method });
  }

  /**
   * Resolves when a child has released the run: the body will not go on in this process.
   * @throws LedgerMismatchError when it cannot go on with its code
   */
  get released(): Promise<void> {
    return this.#release.promise;
  }

  /** Paths of the children that the body has asked for. */
  get asked(): ReadonlySet<string> {
    return this.#work?.asked ?? noPaths;
  }

  /**
   * Returns the ids of the recorded effects that a body which runs again has not asked for this
   * time.
   */
  forgottenEffects(counts: (effect: EffectRecord) => boolean): readonly string[] {
    const { childRoot, base } = this.place;
    if (base === undefined) return [];
    const recorded = effectsOf(this);
    const isAsked = (id: string): boolean =>
      this.#work?.keys.isOfEffect(id.slice(childRoot.length + 1)) === true;
    return [...recorded].flatMap(([id, effect]) => (counts(effect) && !isAsked(id) ? [id] : []));
  }

  /**
   * Checks that nothing waits for its start at the end of the body.
   * @throws LedgerMismatchError when something is that the body has asked for
   */
  assertNothingWaits(): void {
    const mismatch = this.#work?.mismatch();
    if (mismatch !== undefined) throw mismatch;
  }

  /**
   * Resolves when all children have ended that the body must not end before; `undefined` when there
   * are none.
   */
  childrenEnded(): Promise<void> | undefined {
    return this.#work?.children.ended();
  }

  /** Ends the questions and sleeps that a body leaves behind, and resolves when they have ended. */
  endWaits(): Promise<void> | undefined {
    const message = `"${this.invocationId}" has ended and does not wait for it any more.`;
    return this.#work?.waits.stop(new AbortReason('left', message));
  }

  /** Stops these children and resolves when they have ended. */
  stopChildren(reason: AbortReason): Promise<void> {
    const work = this.#work;
    const stopping = [work?.waits.stop(reason), work?.children.stop(reason)];
    return Promise.all(stopping).then(() => undefined);
  }

  /**
   * True when the outcome of some writes is unchecked: those that were to land with children not
   * waited for.
   */
  protected get hasUnconfirmed(): boolean {
    return this.#work?.landed.hasUnconfirmed ?? false;
  }

  /** Rejects when a shared write was refused that was to land with a child not waited for. */
  async landed(): Promise<void> {
    if (this.hasUnconfirmed) await this.#work?.landed.assertLanded();
  }

  /** Closes the context: from now on it refuses to be used. */
  close(): void {
    this.#ended = true;
    this.#work?.close();
  }
}

const noPaths: ReadonlySet<string> = new Set();
