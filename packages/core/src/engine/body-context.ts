import { AbortReason, CancelScope } from '../base/cancel-scope.ts';
import { sha256 } from '../base/hash.ts';
import { findJsonDefect } from '../base/json.ts';
import { randomFromSeed } from '../base/random.ts';
import type { BodyContext, CallOptions, CallResult, SessionReader, SpawnHandle } from '../ledger/body-context.ts';
import { NotJsonError, StateConflictError } from '../ledger/errors.ts';
import type { Actor, EventOf, InvocationInput, InvocationMode } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import type { Runnable } from '../ledger/runnable.ts';
import { createState, type StateAccess } from '../ledger/scoped-state.ts';
import type { LedgerState } from '../ledger/state-fold.ts';
import type { StateOf, StateSchema } from '../ledger/state-types.ts';
import { BodyState } from './body-state.ts';
import { HandoffRefusedError, InvalidKeyError, InvocationEndedError, UnknownRunnableError } from './errors.ts';
import { handoffDepth, maxHandoffDepth } from './hand-over.ts';
import { inputHash, invoke } from './invoke.ts';
import type { RunContext } from './run-context.ts';
import { hasOutcome } from './sequence-body.ts';

const defaultAgentTimeoutMs = 120_000;

/** Where a body stands. For a step both paths are its own; a tool's events carry its agent's path, its children lie below its call. */
export interface BodyPlace {
  readonly run: RunContext;
  /** Path that the body's events carry. */
  readonly path: string;
  /** Path below which its children lie. */
  readonly childRoot: string;
  readonly by: Actor;
  /** Aborted when the body is to stop. */
  readonly scope: CancelScope;
  /** What spawned children belong to, when they may outlive the body; otherwise the body does not end before them. */
  readonly ownerScope: CancelScope | undefined;
  /** Epoch milliseconds at which it began, as recorded. */
  readonly startedAt: number;
  readonly stateSchema: StateSchema | undefined;
  /** State that the body starts from; missing: what the ledger says at each moment. */
  readonly base: LedgerState | undefined;
  readonly onChild?: (() => void) | undefined;
}

/** What steps and tools can use, and what the engine needs of it. */
export class Body implements BodyContext {
  readonly invocationId: string;
  readonly place: BodyPlace;
  #writes: BodyState | undefined;
  #state: StateOf<StateSchema> | undefined;
  #ended = false;
  #keys: Map<string, number> | undefined;
  #asked: Set<string> | undefined;
  #children: Set<Promise<unknown>> | undefined;
  #childScope: CancelScope | undefined;
  #suspension: PromiseWithResolvers<void> | undefined;

  constructor(place: BodyPlace) {
    this.place = place;
    this.invocationId = place.path;
  }

  /** What the body reads and writes of the state. Made when it is needed: most tools need none of it. */
  get writes(): BodyState {
    const { run, path, by, base } = this.place;
    this.#writes ??= new BodyState(run, path, by, base);
    return this.#writes;
  }

  /** Whether there may be something to take from `writes`. */
  protected get hasWrites(): boolean {
    return this.#writes !== undefined;
  }

  get state(): StateOf<StateSchema> {
    this.#state ??= createState(this.#stateAccess(), this.place.stateSchema) as StateOf<StateSchema>;
    return this.#state;
  }

  /** After the end the state can be read, but a write would land nowhere: it is refused like everything else. */
  #stateAccess(): StateAccess {
    const { writes } = this;
    return {
      sharedScopes: writes.sharedScopes,
      temp: writes.temp,
      read: (scope, key) => writes.read(scope, key),
      peek: (scope) => writes.peek(scope),
      write: (scope, changes) => {
        this.assertOpen('state');
        writes.write(scope, changes);
      },
    };
  }

  get session(): SessionReader {
    return this.place.run.session;
  }

  get signal(): AbortSignal {
    return this.place.scope.signal;
  }

  /** Resolves when a child gave the run back: the body will not go on in this process. */
  get suspended(): Promise<void> {
    this.#suspension ??= Promise.withResolvers<void>();
    return this.#suspension.promise;
  }

  /** Paths of the children that the body has asked for. */
  get asked(): ReadonlySet<string> {
    return this.#asked ?? noPaths;
  }

  /** From now on the context refuses to be used. */
  close(): void {
    this.#ended = true;
  }

  /** Resolves when all children that the body must not end before have ended; `undefined` when there are none. */
  childrenEnded(): Promise<void> | undefined {
    return this.#children === undefined || this.#children.size === 0 ? undefined : this.#allEnded();
  }

  /** Stops these children and resolves when they have ended. */
  stopChildren(reason: AbortReason): Promise<void> | undefined {
    this.#childScope?.abort(reason);
    return this.childrenEnded()?.catch(() => this.stopChildren(reason));
  }

  async #allEnded(): Promise<void> {
    while (this.#children !== undefined && this.#children.size > 0) await Promise.all(this.#children);
  }

  #scopeOfChildren(): CancelScope {
    this.#childScope ??= new CancelScope(this.place.scope);
    return this.#childScope;
  }

  /** Remembers a child until it has ended. Whoever waits for it sees a rejection; one that nobody waits for must not end the process. */
  #track(ended: Promise<unknown>): Promise<unknown> {
    this.#children ??= new Set();
    const children = this.#children;
    const tracked = ended.finally(() => children.delete(tracked));
    tracked.catch(() => undefined);
    children.add(tracked);
    return tracked;
  }

  async call<Output>(runnable: Runnable<Output>, options: CallOptions = {}): Promise<CallResult<Output>> {
    const child = this.#begin('call', runnable, options, this.#scopeOfChildren());
    this.#track(child.ended);
    const record = await child.ended;
    if (record === undefined) return this.#neverReturn();
    await this.#assertLanded(child.path);
    this.writes.adopt(record);
    return callResult<Output>(child.path, record);
  }

  /** @throws StateConflictError when a shared write that was to land with the start of this child was refused */
  async #assertLanded(path: string): Promise<void> {
    const { ledger, session } = this.place.run;
    if (session.shared.names.length === 0) return;
    await ledger.durable();
    const start = ledger.invocations.byPath.get(path)?.start.seq ?? 0;
    for (let seq = start - 1; seq > 0; seq--) {
      const event = ledger.events[seq - 1];
      if (event?.invocationId !== this.place.path) return;
      if (event.type === 'decision' && event.component === 'shared_state' && event.decision === 'refuse_write') {
        throw new StateConflictError(event.data as unknown as ConstructorParameters<typeof StateConflictError>[0]);
      }
      if (event.type !== 'state_change') return;
    }
  }

  spawn<Output>(runnable: Runnable<Output>, options: CallOptions = {}): SpawnHandle<Output> {
    // Below the run and tied to its owner, so that it can be let go.
    const scope = new CancelScope(this.place.run.detachedScope);
    const child = this.#begin('spawn', runnable, options, scope);
    child.ended.catch(() => undefined);
    const isFree = this.#isDetached(child.path);
    const untie = isFree ? undefined : (this.place.ownerScope ?? this.#scopeOfChildren()).onAbort((reason) => scope.abort(reason));
    const tracked = isFree || this.place.ownerScope !== undefined ? undefined : this.#track(child.ended);
    return {
      invocationId: child.path,
      wait: async () => {
        const record = await child.ended;
        if (record === undefined) return this.#neverReturn();
        this.writes.adopt(record);
        return callResult<Output>(child.path, record);
      },
      abort: (reason) => scope.abort(new AbortReason('cancelled', reason ?? `${runnable.name} was aborted by its caller.`)),
      detach: () => {
        if (tracked !== undefined) this.#children?.delete(tracked);
        untie?.();
        this.#recordDetaching(child.path);
        this.place.run.detach(child.path, child.ended);
      },
    };
  }

  #isDetached(path: string): boolean {
    return this.place.run.ledger.invocations.byPath.get(path)?.mode === 'dispatch';
  }

  /** Says that nobody waits for a spawned child any more; once, and only while it matters. */
  #recordDetaching(path: string): void {
    const { ledger } = this.place.run;
    if (ledger.failure !== undefined || this.#isDetached(path) || hasOutcome(ledger.invocations, path)) return;
    ledger.append([
      {
        type: 'decision',
        by: this.place.by,
        invocationId: this.place.path,
        component: 'spawn',
        decision: 'detach',
        reasoning: `"${path}" goes on by itself: its caller does not wait for it.`,
        data: { path },
      },
    ]);
  }

  dispatch(runnable: Runnable, options: CallOptions = {}): { readonly invocationId: string } {
    const { run } = this.place;
    const child = this.#begin('dispatch', runnable, options, run.detachedScope);
    run.detach(child.path, child.ended);
    return { invocationId: child.path };
  }

  now(): number {
    this.assertOpen('now');
    return this.place.startedAt;
  }

  id(key: string): string {
    this.assertOpen('id');
    return sha256(`${this.place.run.session.id}\n${this.place.childRoot}\n${this.place.startedAt}\nid\n${key}`).slice(0, 20);
  }

  random(key: string): number {
    this.assertOpen('random');
    return randomFromSeed(`${this.place.run.session.id}\n${this.place.childRoot}\n${this.place.startedAt}\nrandom\n${key}`);
  }

  protected assertOpen(method: string): void {
    if (this.#ended) throw new InvocationEndedError({ path: this.place.childRoot, method });
  }

  /** The promise that a body gets when its child gave the run back: it never comes, and the engine stops waiting for the body. */
  #neverReturn(): Promise<never> {
    this.#suspension ??= Promise.withResolvers<void>();
    this.#suspension.resolve();
    return new Promise<never>(() => undefined);
  }

  /** Starts or continues a child; the body's writes land with its start. */
  #begin(
    mode: InvocationMode,
    runnable: Runnable,
    options: CallOptions,
    scope: CancelScope,
  ): { path: string; ended: Promise<InvocationRecord | undefined> } {
    this.assertOpen(mode);
    const { run, childRoot } = this.place;
    const input = inputOf(runnable, options);
    const key = this.#uniqueKey(runnable, options, input);
    const path = `${childRoot}/${key}`;
    this.#asked ??= new Set();
    this.#asked.add(path);
    const recorded = run.ledger.invocations.byPath.get(path);
    if (recorded === undefined) {
      this.#checkDepth(runnable);
      if (mode !== 'call') this.#checkName(runnable);
    }
    this.place.onChild?.();
    if (recorded !== undefined) this.writes.drop(this.#flushedWith(recorded, key));
    const { drafts, extras } = recorded === undefined ? this.writes.take(key) : { drafts: [], extras: undefined };
    const timeout = options.timeout ?? (runnable.kind === 'agent' ? defaultAgentTimeoutMs : undefined);
    return { path, ended: invoke(run, { path, runnable, mode, input, timeout, scope, before: drafts, extras }) };
  }

  #uniqueKey(runnable: Runnable, options: CallOptions, input: InvocationInput | undefined): string {
    const { key } = options;
    if (key !== undefined && (key === '' || /[/#~>]/.test(key))) {
      throw new InvalidKeyError({ key, reason: 'a key is not empty and has none of / # ~ >' });
    }
    const base = key ?? (input === undefined ? runnable.name : `${runnable.name}#${inputHash(input)}`);
    this.#keys ??= new Map();
    const count = (this.#keys.get(base) ?? 0) + 1;
    this.#keys.set(base, count);
    if (count === 1) return base;
    if (key !== undefined) throw new InvalidKeyError({ key, reason: 'it names another child of the same body already' });
    // No name or key has this mark, so that a number is never somebody's name.
    return `${base}#${count}`;
  }

  /** The writes of this body that landed with the start of a child: they stand right before it. */
  #flushedWith(child: InvocationRecord, key: string): readonly EventOf<'state_change'>[] {
    const { run, path } = this.place;
    const flushed: EventOf<'state_change'>[] = [];
    for (let seq = child.start.seq - 1; seq > 0; seq--) {
      const event = run.ledger.events[seq - 1];
      if (event?.type !== 'state_change' || event.flush !== key || event.invocationId !== path) break;
      flushed.push(event);
    }
    return flushed;
  }

  /** A child that may outlive its caller's body is continued by name, so its name must lead to it in other processes too. */
  #checkName(runnable: Runnable): void {
    const { registry, strictNames } = this.place.run.app;
    if (registry.has(runnable.name)) return;
    if (strictNames) throw new UnknownRunnableError({ name: runnable.name, known: registry.names });
    registry.register(runnable);
  }

  #checkDepth(runnable: Runnable): void {
    const { run, path } = this.place;
    const depth = handoffDepth(run, path) + 1;
    if (depth > maxHandoffDepth) {
      throw new HandoffRefusedError({
        path,
        to: runnable.name,
        reason: `it would be level ${depth} of calls and hand-overs, and ${maxHandoffDepth} are allowed`,
      });
    }
  }
}

const noPaths: ReadonlySet<string> = new Set();

function inputOf(runnable: Runnable, { message, data }: CallOptions): InvocationInput | undefined {
  if (message === undefined && data === undefined) return undefined;
  const defect = data === undefined ? undefined : findJsonDefect(data);
  if (defect !== undefined) throw new NotJsonError({ what: `The data for "${runnable.name}"`, ...defect });
  return { ...(message === undefined ? {} : { message }), ...(data === undefined ? {} : { data }) };
}

function callResult<Output>(invocationId: string, record: InvocationRecord): CallResult<Output> {
  const { status, output, error } = record;
  if (status === 'open' || status === 'yielded') throw new TypeError(`"${record.path}" has not ended.`);
  return { invocationId, status, output: output as Output | undefined, ...(error === undefined ? {} : { error }) };
}
