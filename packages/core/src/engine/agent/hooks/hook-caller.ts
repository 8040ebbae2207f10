import { toErrorRecord } from '../../../base/error.ts';
import { untilAborted } from '../../../effects/until-aborted.ts';
import type { Agent } from '../../../runnables/agent.ts';
import type { HookContext } from '../../../runnables/hooks.ts';
import { createState, type StateAccess } from '../../../session/scoped-state.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { HookFailedError } from './errors.ts';
import type { HookWrites } from './hook-writes.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: what a hook returns that returns nothing
type Something<Value> = Exclude<Value, undefined | void>;

/** Hook that is called, with its name and its owner for errors. */
export interface CalledHook<Given> {
  readonly hook: string;
  readonly owner: string;
  /** Missing when the owner has no such hook. */
  readonly call: ((ctx: HookContext) => Given) | undefined;
  /** Tool call that the hook is about. */
  readonly callId?: string | undefined;
}

/** Caller of the hooks of one agent invocation: it gives them their context. */
export class HookCaller {
  readonly #frame: BodyFrame;
  readonly #agent: Agent;
  readonly #writes: HookWrites;
  readonly #round: () => number;
  #context: HookContext | undefined;
  /** Round that is being prepared. The position has it only after its call has begun. */
  #preparing = 0;

  constructor(agent: Agent, frame: BodyFrame, writes: HookWrites, round: () => number) {
    this.#agent = agent;
    this.#frame = frame;
    this.#writes = writes;
    this.#round = round;
  }

  /** Sets the round that hooks see from now on, before its model call has begun. */
  prepares(round: number): void {
    this.#preparing = round;
  }

  /**
   * Calls a hook. Returns `undefined` when it returned nothing, or when the agent was stopped
   * meanwhile.
   * @throws HookFailedError when the hook throws
   */
  async call<Given>({
    hook,
    owner,
    call,
    callId,
  }: CalledHook<Given>): Promise<Something<Awaited<Given>> | undefined> {
    if (call === undefined) return undefined;
    try {
      const given = call(
        callId === undefined ? this.#contextNow() : this.#contextOf(this.#writes.stateOf(callId)),
      );
      if (!(given instanceof Promise)) return given as Something<Awaited<Given>> | undefined;
      // A hook that never returns does not keep its run from ending.
      const { run, scope } = this.#frame;
      return (await untilAborted(given, { scope, clock: run.app.clock }))?.value as
        | Something<Awaited<Given>>
        | undefined;
    } catch (thrown) {
      throw new HookFailedError(
        { hook, owner, reason: toErrorRecord(thrown).message },
        { cause: thrown },
      );
    }
  }

  #contextNow(): HookContext {
    this.#context ??= this.#contextOf(this.#writes.state);
    return this.#context;
  }

  #contextOf(state: StateAccess): HookContext {
    const { run, record, scope } = this.#frame;
    const round = (): number => Math.max(this.#round(), this.#preparing);
    return Object.freeze({
      agent: this.#agent.name,
      invocationId: record.path,
      get round() {
        return round();
      },
      session: { id: run.session.id, app: run.session.app, events: run.ledger.events },
      state: createState(state, this.#agent.stateSchema),
      get signal() {
        return scope.signal;
      },
      now: () => run.app.clock.now(),
    }) as HookContext;
  }
}
