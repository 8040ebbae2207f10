import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import type { JsonValue } from '../../base/json.ts';
import { ask } from '../../effects/request/question.ts';
import { assertToolIsThere } from '../../effects/request/unused-answer.ts';
import { withdrawIfStale } from '../../effects/request/withdraw-stale.ts';
import { resultDraft } from '../../effects/result-draft.ts';
import { standingIn } from '../../effects/stand-ins.ts';
import { resultOfInterrupted } from '../../effects/tool-call/interrupted-attempt.ts';
import {
  assertContinuable,
  performRecovery,
  performResolution,
  performToolCall,
} from '../../effects/tool-call/perform-tool-call.ts';
import type { ToolAttempt, ToolBody, ToolCallPorts } from '../../effects/tool-call/ports.ts';
import { knownEffect } from '../../effects/tool-call/refusal-draft.ts';
import { cancelledBefore, cancelledMeanwhile } from '../../effects/tool-call/result-texts.ts';
import { type Event, type EventDraft, type EventOf, foldEvent } from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { AttemptState, CallState } from '../../loop/call-state.ts';
import { decide, type Frame } from '../../loop/decide.ts';
import type { Intent } from '../../loop/intent.ts';
import { type Position, startPosition } from '../../loop/position.ts';
import { concerns, foldPosition, positionFold } from '../../loop/position-fold.ts';
import { toModel } from '../../models/model.ts';
import type { Agent } from '../../runnables/agent.ts';
import { defaultGuardrails } from '../../supervision/guardrails/default-guardrails.ts';
import type { LimitState } from '../../supervision/limits.ts';
import { resolveSupervision, type Supervision } from '../../supervision/options.ts';
import { Activity } from '../frame/activity.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { sleepUntil } from '../frame/sleep-until.ts';
import { withdrawBelowCall } from '../invoke/abandoned-requests.ts';
import { ToolBodyContext } from '../invoke/bodies/tool.ts';
import { hasBegunBelow, openBelow } from '../invoke/context/body-effects.ts';
import { planHandOver } from '../invoke/handoff.ts';
import { cancelledEnd, invoke, isGivenBack } from '../invoke/invoke.ts';
import { recordedBase } from '../invoke/state/recorded-writes.ts';
import { stateAfter } from '../invoke/state/state-base.ts';
import {
  type AnswerEnd,
  answeredEnd,
  endsWithResult,
  guardedResult,
  readFinal,
} from './answers/answer-end.ts';
import { hasEndedModelCall, hookEnd, joined } from './hooks/hook-end.ts';
import { HookPipeline } from './hooks/hook-pipeline.ts';
import { ModelRounds } from './model-round.ts';
import { interruptedCallDraft, limitDraft, limitQuestion, unknownPriceDrafts } from './notes.ts';
import { ToolSupervision } from './supervision/tool-supervision.ts';
import { AgentTools } from './tool-lookup.ts';

/** Returns the settlement that cancels a request, for the append that ends its call. */
function cancelled(request: EventOf<'tool_yield'> | undefined): BatchExtras | undefined {
  return request === undefined
    ? undefined
    : { settles: [{ requestId: request.requestId, status: 'cancelled', by: 'runtime' }] };
}

/**
 * Runs an agent: decides the next steps and performs them. Decides again after each event that
 * concerns the agent.
 */
export function runAgent(agent: Agent, frame: BodyFrame): Promise<BodyEnd | undefined> {
  return new AgentRun(agent, frame).run();
}

class AgentRun {
  readonly #agent: Agent;
  readonly #frame: BodyFrame;
  readonly #position: Position;
  /** Missing when there are no hooks, middleware or error handlers. */
  readonly #hooks: HookPipeline | undefined;
  readonly #modelRounds: ModelRounds;
  readonly #supervision: Supervision;
  readonly #decideFrame: Frame;
  readonly #inFlight = new Map<string, Promise<void>>();
  /**
   * Activities of calls that have begun children. Such a call is waiting when all of its children
   * are.
   */
  readonly #toolActivities = new Map<string, Activity>();
  /** True when the next round is held: nothing new is begun for now. */
  #isHeld = false;
  readonly #keys: ReadonlySet<string>;
  readonly #ports: ToolCallPorts;
  readonly #tools: AgentTools;
  /** Scope of all work that the agent has started. The work ends with the agent. */
  readonly #work: CancelScope;
  #failure: { readonly error: unknown } | undefined;
  #changed = false;
  #wake: (() => void) | undefined;
  #reportedSeq: number;

  constructor(agent: Agent, frame: BodyFrame) {
    const { run, record, resumed, scope } = frame;
    this.#agent = agent;
    this.#work = new CancelScope(scope);
    this.#frame = frame;
    this.#position = resumed
      ? foldPosition(record.path, run.ledger.events, (event) => run.ledger.whole(event))
      : startPosition(record.path);
    this.#supervision = resolveSupervision(
      run.app.supervision,
      agent.supervision,
      defaultGuardrails,
    );
    const models = [agent.model, ...agent.fallbackModels].map(toModel);
    const budget = run.budget.of(record.path, { limits: agent.limits, models, isNew: !resumed });
    this.#decideFrame = {
      limits: agent.limits,
      toolConcurrency: agent.toolConcurrency,
      hold: agent.hold,
      onLoop: this.#supervision.loops?.onLoop,
      budget,
    };
    this.#keys = {
      has: (key: string) => this.#inFlight.has(key),
      [Symbol.iterator]: () => this.#inFlight.keys(),
    } as ReadonlySet<string>;
    this.#tools = new AgentTools(agent, run.app.tools);
    this.#reportedSeq = run.ledger.lastSeq;
    this.#hooks = HookPipeline.of(agent, frame, () => this.#position.model.call?.start.round ?? 0);
    this.#modelRounds = new ModelRounds({
      agent,
      frame,
      position: this.#position,
      budget,
      tools: this.#tools,
      work: this.#work,
      supervision: this.#supervision,
      hooks: this.#hooks,
      sleepUntil: (at) => sleepUntil(frame, at),
      reportRound: () => this.#reportRound(),
    });
    this.#ports = {
      ledger: run.ledger,
      clock: run.app.clock,
      scope: this.#work,
      path: record.path,
      find: (name) => standingIn(this.#tools.find(name), agent.name, run.app.standIns),
      get names() {
        return [...agent.tools, ...run.app.tools.list()].map(({ name }) => name);
      },
      isWaiting: (callId) => this.#toolActivities.get(`tool:${callId}`)?.isWaiting ?? false,
      begunBelow: (callId) =>
        this.#hasChildren(callId) ? { open: openBelow(frame, callId) } : undefined,
      sleepUntil: (at) => sleepUntil(frame, at),
      makeBody: (attempt) => this.#makeBody(attempt),
      handOver: (target) => planHandOver(run, record.path, target),
      supervisor: new ToolSupervision({
        frame,
        position: this.#position,
        supervision: this.#supervision,
        hooks: this.#hooks,
        tools: this.#tools,
      }),
      around: run.tracing?.tool,
    };
  }

  async run(): Promise<BodyEnd | undefined> {
    const { run, scope, resumed } = this.#frame;
    const forgetDrafts = run.ledger.onDraft((event) => this.#take(event));
    const forgetAbort = scope.onAbort(() => this.#wakeUp());
    const forgetGate = run.gate.onClose(() => this.#wakeUp());
    this.#frame.activity.judgeBy(() => this.#ownState(), 'tool_input');
    try {
      if (resumed) this.#reconcile();
      else this.#noteUnknownPrice();
      const begun = await this.#begin();
      if (begun !== undefined) return begun;
      for (;;) {
        if (this.#failure !== undefined) throw await this.#abandon(this.#failure.error);
        if (scope.aborted || run.ledger.failure !== undefined) return await this.#wind();
        const advanced = this.#advance();
        const end =
          advanced?.status === 'completed' && this.#isEndChecked
            ? await this.#checkedEnd(advanced)
            : advanced;
        if (end?.status === 'error')
          await this.#stopWork(
            new AbortReason('cancelled', `"${this.#frame.record.path}" failed.`),
          );
        if (end !== undefined) {
          if (run.onStep !== undefined) await this.#reportRound();
          return end;
        }
        if (!this.#changed) {
          if (this.#ownState() !== 'busy') this.#frame.activity.rest();
          await this.#nextChange();
        }
        this.#changed = false;
      }
    } finally {
      forgetDrafts();
      forgetAbort();
      forgetGate();
      this.#work.close();
    }
  }

  /**
   * Asks the `beforeAgent` hooks before any other step. After a stop they are asked again if no
   * model call has ended: only its end records their writes.
   */
  async #begin(): Promise<BodyEnd | undefined> {
    const hooks = this.#hooks;
    const { scope } = this.#frame;
    if (
      hooks?.has('beforeAgent') !== true ||
      hasEndedModelCall(this.#frame.record) ||
      scope.aborted
    )
      return undefined;
    const given = await hooks.agent.before();
    if (given === undefined || scope.aborted) return undefined;
    this.#closeModelCall();
    return hookEnd(this.#frame, this.#agent, given, hooks.takeWrites());
  }

  get #isEndChecked(): boolean {
    return this.#hooks?.has('afterAgent') === true || endsWithResult(this.#agent, this.#position);
  }

  /**
   * Returns the end with the output that the schema and hooks make of it. Returns `undefined` when
   * a message has come meanwhile, which must be answered first.
   */
  async #checkedEnd(given: BodyEnd): Promise<BodyEnd | undefined> {
    const finish = (output: JsonValue) => this.#finish({ output, stopReason: given.stopReason });
    const end = endsWithResult(this.#agent, this.#position)
      ? await readFinal(this.#agent, given, finish)
      : given;
    const hooks = this.#hooks;
    if (hooks?.has('afterAgent') !== true || end.status !== 'completed') return end;
    const output = await hooks.agent.after(end.output ?? null);
    // The end is dropped only if the agent is aborted or its next step is no longer `finish`. A
    // final result or a refusal stays the end, even after a new message.
    if (
      this.#frame.scope.aborted ||
      decide(this.#position, this.#keys, this.#decideFrame)[0]?.type !== 'finish'
    ) {
      this.#changed = true;
      return undefined;
    }
    const finished = this.#finish({ output, stopReason: end.stopReason });
    const { drafts, extras } = hooks.takeWrites();
    return {
      ...finished,
      before: [...(finished.before ?? []), ...drafts],
      extras: joined(finished.extras, extras),
    };
  }

  /**
   * Continues after another process stopped: resumes spawned children, and withdraws requests that
   * no longer fit.
   */
  #reconcile(): void {
    const { run, scope, record } = this.#frame;
    this.#continueSpawns(scope.aborted);
    const { calls, limits } = this.#position;
    const { lastRequest } = limits;
    const asked = [...calls.byId.values()].flatMap(({ pending }) =>
      pending === undefined ? [] : [pending],
    );
    if (lastRequest !== undefined && lastRequest.answer === undefined)
      asked.push(lastRequest.request);
    for (const request of asked)
      withdrawIfStale(run.ledger, record.path, request, this.#tools.find(request.name));
  }

  /** Returns the state of the agent itself, without the calls whose children wait. */
  #ownState(): 'busy' | 'idle' | 'waiting' {
    for (const key of this.#inFlight.keys())
      if (!this.#toolActivities.has(key) && !key.startsWith('spawn:')) return 'busy';
    if (this.#changed || this.#failure !== undefined) return 'busy';
    if (this.#isHeld) return 'waiting';
    const { calls, limits } = this.#position;
    const { lastRequest } = limits;
    if (lastRequest !== undefined && lastRequest.answer === undefined) return 'waiting';
    for (const { pending } of calls.byId.values()) if (pending !== undefined) return 'waiting';
    return this.#frame.activity.hasChildren ? 'idle' : 'busy';
  }

  /** Records at once that a limit in dollars cannot hold for a model without a known price. */
  #noteUnknownPrice(): void {
    const { run, record } = this.#frame;
    const limit = this.#decideFrame.budget.accounts.find(({ limits }) => limits.cost !== undefined)
      ?.limits.cost;
    if (limit === undefined) return;
    const models = [this.#agent.model, ...this.#agent.fallbackModels].map(toModel);
    const drafts = unknownPriceDrafts(record.path, limit, models, run.app.prices);
    if (drafts.length > 0) run.ledger.append(drafts);
  }

  #take(event: Event): void {
    if (!concerns(this.#position, event)) {
      // This agent may be waiting for a shared limit: the end of another agent's call may leave
      // room in it.
      if (
        (event.type === 'model_end' || event.type === 'invocation_end') &&
        this.#frame.run.budget.isShared
      )
        this.#wakeUp();
      return;
    }
    foldEvent(positionFold, this.#position, this.#frame.run.ledger.whole(event));
    if (event.type === 'tool_result' && event.settled)
      withdrawBelowCall(this.#frame.run.ledger, event.callId);
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#changed = true;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Waits for open work to end: tools have their grace period. Then closes all open calls.
   * @returns `undefined` when the run is released
   */
  async #wind(): Promise<BodyEnd | undefined> {
    await this.#workEnded();
    const { run, scope } = this.#frame;
    if (isGivenBack(run, scope)) return undefined;
    this.#closeOpen();
    return cancelledEnd(scope);
  }

  async #workEnded(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    const { underWay } = inFlightOn(this.#frame.run.ledger);
    for (const path of [...this.#position.children.open])
      await underWay.get(path)?.ended.catch(() => undefined);
  }

  async #stopWork(reason: AbortReason): Promise<void> {
    this.#work.abort(reason);
    await this.#workEnded();
  }

  /**
   * Stops open work without a record of its end, because the agent cannot continue in this process.
   */
  async #abandon(error: unknown): Promise<unknown> {
    await this.#stopWork(new AbortReason('stopped', 'The agent could not be carried on.'));
    return error;
  }

  #closeModelCall(): void {
    const { call } = this.#position.model;
    if (call !== undefined && call.end === undefined)
      this.#note({ type: 'close_model', key: 'close' });
  }

  /**
   * Closes the open calls of a cancelled agent: each call gets one settled result, each model call
   * an end.
   */
  #closeOpen(): void {
    this.#closeModelCall();
    for (const call of this.#position.calls.byId.values()) {
      if (call.settled !== undefined) continue;
      const open = call.attempts.find(({ result }) => result === undefined);
      const draft = resultDraft(
        call.call,
        this.#frame.record.path,
        open?.attempt ?? 0,
        open === undefined ? cancelledBefore() : cancelledMeanwhile(),
        {
          settled: true,
          durationMs: 0,
          effect: open === undefined ? knownEffect(call) : 'unknown',
        },
      );
      this.#frame.run.ledger.append([draft], cancelled(call.pending));
    }
  }

  /** Performs the next steps. Returns the end of the invocation when there are no more. */
  #advance(): BodyEnd | undefined {
    this.#isHeld = false;
    for (const intent of decide(this.#position, this.#keys, this.#decideFrame)) {
      switch (intent.type) {
        case 'wait':
          return undefined;
        case 'finish':
          return this.#finish(intent);
        case 'transfer':
          return { status: 'transferred', next: intent.next };
        case 'fail':
          return { status: 'error', error: intent.error, stopReason: intent.stopReason };
        case 'model':
          if (this.#frame.run.gate.isClosed) {
            this.#hold();
            return undefined;
          }
          this.#perform(intent.key, this.#modelRounds.call(intent));
          break;
        case 'tool':
          this.#perform(intent.key, this.#callTool(intent));
          break;
        case 'resolve_attempt':
          this.#perform(intent.key, this.#resolveAttempt(intent));
          break;
        case 'close_attempt':
          this.#closeAttempt(intent);
          break;
        case 'compact':
          this.#perform(intent.key, this.#modelRounds.recoverFromOverflow());
          break;
        case 'ask_limit':
          this.#askLimit(intent.limit);
          break;
        default:
          this.#note(intent);
      }
    }
    return undefined;
  }

  /** Holds the next round: it is not begun for now. */
  #hold(): void {
    this.#isHeld = true;
    this.#frame.activity.judgeBy(() => this.#ownState(), 'gate');
  }

  async #resolveAttempt({
    call,
    attempt,
    answered,
  }: Extract<Intent, { type: 'resolve_attempt' }>): Promise<void> {
    const tool = this.#tools.find(call.fallback ?? call.call.name);
    if (tool !== undefined) return performResolution(call, attempt, answered, tool, this.#ports);
    assertToolIsThere(this.#frame.run.ledger, answered, this.#agent.name);
    this.#settleInterrupted(call, attempt);
  }

  #askLimit(limit: LimitState): void {
    const { run, record } = this.#frame;
    ask(
      run.ledger,
      limitQuestion(record.path, this.#agent.name, limit, this.#position.limits.requests + 1),
    );
  }

  #perform(key: string, work: Promise<void>): void {
    const tracked = work.then(
      () => this.#ended(key),
      (error: unknown) => {
        this.#failure ??= { error };
        this.#ended(key);
      },
    );
    this.#inFlight.set(key, tracked);
  }

  #ended(key: string): void {
    this.#inFlight.delete(key);
    this.#toolActivities.get(key)?.end();
    this.#toolActivities.delete(key);
    this.#wakeUp();
  }

  #finish(end: AnswerEnd): BodyEnd {
    if (this.#position.ending.result === undefined)
      return answeredEnd(this.#frame, this.#agent, this.#position, end);
    const check = {
      agent: this.#agent.name,
      round: this.#position.model.rounds,
      tools: this.#tools.all().map(({ name }) => name),
    };
    const { decisions, ...checked } = guardedResult(
      this.#frame,
      check,
      this.#supervision.guardrails,
      end,
    );
    const finished = answeredEnd(this.#frame, this.#agent, this.#position, checked);
    return decisions.length === 0
      ? finished
      : { ...finished, before: [...(finished.before ?? []), ...decisions] };
  }

  async #reportRound(): Promise<void> {
    const { run, record } = this.#frame;
    const events = record.events.filter((event) => event.seq > this.#reportedSeq);
    this.#reportedSeq = run.ledger.lastSeq;
    if (events.length === 0) return;
    await run.ledger.durable();
    await run.onStep?.(events, run.session, this.#agent);
  }

  async #callTool(intent: Extract<Intent, { type: 'tool' }>): Promise<void> {
    if (intent.notBefore !== undefined) await sleepUntil(this.#frame, intent.notBefore);
    if (this.#frame.scope.aborted && isGivenBack(this.#frame.run, this.#frame.scope)) return;
    await performToolCall(intent.call, intent.attempt, this.#ports);
    if (this.#frame.resumed && this.#position.children.open.size > 0) this.#continueSpawns(false);
  }

  #hasChildren(callId: string): boolean {
    return hasBegunBelow(this.#frame.record, callId);
  }

  #makeBody(attempt: ToolAttempt): ToolBody {
    const { run } = this.#frame;
    const { call } = attempt;
    const { path } = this.#frame.record;
    const seq = this.#hasChildren(call.callId)
      ? recordedBase(run.ledger, path, call.callId)
      : undefined;
    return new ToolBodyContext(attempt, {
      run,
      path,
      childRoot: call.callId,
      callId: call.callId,
      by: `tool:${call.name}`,
      scope: attempt.scope,
      activity: () => this.#activityOf(call),
      ownerScope: this.#work,
      ownerActivity: this.#frame.activity,
      startedAt: call.at,
      stateSchema: attempt.tool.stateSchema,
      base: seq === undefined ? undefined : { state: stateAfter(run.ledger, seq), seq },
      onChild: () => attempt.beforeChild(),
    });
  }

  /** Returns the activity of a call. It is part of the tree after the call has begun a child. */
  #activityOf({ callId }: ToolAttempt['call']): Activity {
    const key = `tool:${callId}`;
    const activity = this.#toolActivities.get(key) ?? new Activity(callId, this.#frame.activity);
    this.#toolActivities.set(key, activity);
    return activity;
  }

  /**
   * Records an intent that takes no time. It closes a model call of a stopped process, or says that
   * a limit is near or reached.
   */
  #note(intent: Extract<Intent, { type: 'close_model' | 'warn' | 'declare_limit' }>): void {
    this.#frame.run.ledger.append([this.#noteDraft(intent)]);
  }

  #noteDraft(
    intent: Extract<Intent, { type: 'close_model' | 'warn' | 'declare_limit' }>,
  ): EventDraft {
    const { run, record } = this.#frame;
    if (intent.type !== 'close_model') return limitDraft(record.path, intent);
    const { start } = this.#position.model.call as NonNullable<Position['model']['call']>;
    return interruptedCallDraft(record.path, start, toModel(this.#agent.model), run.app.prices);
  }

  /**
   * Settles an attempt that a stopped process left open. The call waits only when its tool or a
   * person must say how it ended.
   */
  #closeAttempt({ key, call, attempt }: Extract<Intent, { type: 'close_attempt' }>): void {
    const checking = assertContinuable(call, this.#ports);
    const tool = this.#tools.find(call.fallback ?? call.call.name);
    const asks =
      tool !== undefined && (tool.recovery === 'ask' || typeof tool.recovery === 'function');
    const settle = (): void => this.#settleInterrupted(call, attempt);
    if (checking !== undefined) this.#perform(key, checking.then(settle));
    else if (asks && !this.#hasChildren(call.call.callId))
      this.#perform(key, performRecovery(call, attempt, tool, this.#ports));
    else settle();
  }

  #settleInterrupted(call: CallState, attempt: AttemptState): void {
    const { result, settled } = resultOfInterrupted(
      call,
      this.#tools.find(call.fallback ?? call.call.name),
      this.#hasChildren(call.call.callId),
    );
    this.#frame.run.ledger.append([
      resultDraft(call.call, this.#frame.record.path, attempt.attempt, result, {
        settled,
        durationMs: 0,
        effect: 'unknown',
        ...(settled ? {} : { retryAfterMs: 0 }),
      }),
    ]);
  }

  /**
   * Continues spawned children that were open when the last process stopped, from their recorded
   * names and inputs.
   * @param all true to continue also the children of calls that run again
   */
  #continueSpawns(all: boolean): void {
    const { run } = this.#frame;
    const { underWay } = inFlightOn(run.ledger);
    for (const path of this.#position.children.open) {
      const child = run.ledger.invocations.byPath.get(path);
      if (child === undefined || underWay.has(path) || (!all && this.#isCallOpen(path))) continue;
      const runnable = run.app.registry.get(child.name);
      this.#perform(
        `spawn:${path}`,
        invoke(run, {
          path,
          runnable,
          mode: child.mode,
          input: child.input,
          scope: new CancelScope(this.#work),
          activity: this.#frame.activity,
        }).then(() => undefined),
      );
    }
  }

  /** True when the call that spawned a child will run again: it then requests the child itself. */
  #isCallOpen(child: string): boolean {
    const call = this.#position.calls.byId.get(child.slice(0, child.lastIndexOf('/')));
    return call !== undefined && call.settled === undefined;
  }
}
