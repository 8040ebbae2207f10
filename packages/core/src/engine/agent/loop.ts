import { AbortReason } from '../../base/cancel-scope.ts';
import { type Event, foldEvent } from '../../ledger/event.ts';
import { decide, type Frame } from '../../loop/decide.ts';
import type { Intent } from '../../loop/intent.ts';
import { concerns, positionFold } from '../../loop/position-fold.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { withdrawBelowCall } from '../invoke/abandoned-requests.ts';
import { cancelledEnd, isReleased } from '../invoke/invoke.ts';
import { type AgentParts, agentParts } from './agent-parts.ts';
import { AgentCalls } from './calls.ts';
import { ChangeSignal } from './change-signal.ts';
import { continueAfterStop } from './continuation.ts';
import { AgentEnding } from './ending.ts';
import { closeModelCall } from './interrupted-model-call.ts';
import { askAboutLimit, noteUnknownPrices, recordLimit } from './limits.ts';
import { ModelRounds } from './model-round.ts';
import { RoundReport } from './round-report.ts';
import { WorkUnderWay } from './work-under-way.ts';

/**
 * Runs an agent: decides the next steps and performs them. Decides again after each event that
 * concerns the agent.
 */
export function runAgent(agent: Agent, frame: BodyFrame): Promise<BodyEnd | undefined> {
  return new AgentLoop(agentParts(agent, frame)).run();
}

/** Step that is begun or recorded without an end of the agent. */
type Step = Exclude<Intent, { type: 'wait' | 'finish' | 'transfer' | 'fail' | 'model' }>;

/** Loop of one agent invocation: it asks `decide`, performs the steps, and waits for a change. */
class AgentLoop {
  readonly #parts: AgentParts;
  readonly #decideFrame: Frame;
  readonly #changes = new ChangeSignal();
  readonly #work: WorkUnderWay;
  readonly #calls: AgentCalls;
  readonly #modelRounds: ModelRounds;
  readonly #ending: AgentEnding;
  readonly #report: RoundReport;
  /** True when the agent is paused: no new round begins for now. */
  #isPaused = false;

  constructor(parts: AgentParts) {
    const { agent, frame, supervision, budget, compaction } = parts;
    const { defaults } = frame.run.app;
    this.#parts = parts;
    this.#decideFrame = {
      limits: agent.limits,
      toolConcurrency: agent.toolConcurrency ?? defaults.toolConcurrency,
      recoveries: compaction.recoveries,
      hold: agent.hold,
      onLoop: supervision.loops?.onLoop,
      budget,
    };
    this.#work = new WorkUnderWay(parts, this.#changes);
    this.#report = new RoundReport(parts);
    this.#modelRounds = new ModelRounds(parts, this.#report);
    this.#calls = new AgentCalls(parts, this.#work);
    this.#ending = new AgentEnding(parts);
  }

  async run(): Promise<BodyEnd | undefined> {
    const { run, record, scope, activity } = this.#parts.frame;
    const forgetDrafts = run.ledger.onDraft((event) => this.#take(event));
    const forgetAbort = scope.onAbort(() => this.#changes.notify());
    const forgetGate = run.gate.onClose(() => this.#changes.notify());
    activity.judgeBy(() => this.#ownState(), 'tool_input');
    try {
      this.#begin();
      const given = await this.#ending.beforeFirstStep();
      if (given !== undefined) return given;
      for (;;) {
        if (this.#work.failure !== undefined) throw await this.#abandon(this.#work.failure.error);
        if (scope.aborted || run.ledger.failure !== undefined) return await this.#wind();
        const advanced = this.#advance();
        const end =
          advanced?.status === 'completed' && this.#ending.isChecked
            ? await this.#checkedEnd(advanced)
            : advanced;
        if (end?.status === 'error')
          await this.#work.stop(new AbortReason('cancelled', `"${record.path}" failed.`));
        if (end !== undefined) {
          if (run.onStep !== undefined) await this.#report.send();
          return end;
        }
        if (!this.#changes.isSet) {
          if (this.#ownState() !== 'busy') activity.reportWait();
          await this.#changes.next();
        }
        this.#changes.clear();
      }
    } finally {
      forgetDrafts();
      forgetAbort();
      forgetGate();
      this.#work.close();
    }
  }

  #begin(): void {
    if (this.#parts.frame.resumed) continueAfterStop(this.#parts, this.#work);
    else noteUnknownPrices(this.#parts);
  }

  /** Performs the next steps. Returns the end of the invocation when there are no more. */
  #advance(): BodyEnd | undefined {
    this.#isPaused = false;
    for (const intent of this.#nextSteps()) {
      switch (intent.type) {
        case 'wait':
          return undefined;
        case 'finish':
          return this.#ending.answered(intent);
        case 'transfer':
          return { status: 'transferred', next: intent.next };
        case 'fail':
          return { status: 'error', error: intent.error, stopReason: intent.stopReason };
        case 'model':
          if (this.#parts.frame.run.gate.isClosed) {
            this.#pause();
            return undefined;
          }
          this.#work.start(intent.key, this.#modelRounds.call(intent));
          break;
        default:
          this.#perform(intent);
      }
    }
    return undefined;
  }

  #nextSteps(): readonly Intent[] {
    return decide(this.#parts.position, this.#work.keys, this.#decideFrame);
  }

  /** Pauses the agent: its next round is not begun for now. */
  #pause(): void {
    this.#isPaused = true;
    this.#parts.frame.activity.judgeBy(() => this.#ownState(), 'pause');
  }

  #perform(intent: Step): void {
    switch (intent.type) {
      case 'tool':
        this.#work.start(intent.key, this.#calls.perform(intent));
        break;
      case 'resolve_attempt':
        this.#work.start(intent.key, this.#calls.resolve(intent));
        break;
      case 'close_attempt':
        this.#calls.close(intent);
        break;
      case 'compact':
        this.#work.start(intent.key, this.#modelRounds.recoverFromOverflow());
        break;
      case 'close_model':
        closeModelCall(this.#parts);
        break;
      case 'ask_limit':
        askAboutLimit(this.#parts, intent.limit);
        break;
      default:
        recordLimit(this.#parts, intent);
    }
  }

  /** Returns the end as hooks and the schema leave it; `undefined` when the agent goes on. */
  async #checkedEnd(end: BodyEnd): Promise<BodyEnd | undefined> {
    const checked = await this.#ending.checked(end, () => this.#nextSteps()[0]?.type === 'finish');
    if (checked === undefined) this.#changes.notify();
    return checked;
  }

  #take(event: Event): void {
    const { frame, position } = this.#parts;
    const { run } = frame;
    if (!concerns(position, event)) {
      // This agent may be waiting for a shared limit: the end of another agent's call may leave
      // room in it.
      if ((event.type === 'model_end' || event.type === 'invocation_end') && run.budget.isShared)
        this.#changes.notify();
      return;
    }
    foldEvent(positionFold, position, run.ledger.whole(event));
    if (event.type === 'tool_result' && event.settled) withdrawBelowCall(run.ledger, event.callId);
    this.#changes.notify();
  }

  /** Returns the state of the agent itself, without the calls whose children wait. */
  #ownState(): 'busy' | 'idle' | 'waiting' {
    if (this.#work.isBusy || this.#changes.isSet || this.#work.failure !== undefined) return 'busy';
    if (this.#isPaused) return 'waiting';
    const { calls, limits } = this.#parts.position;
    const { lastRequest } = limits;
    if (lastRequest !== undefined && lastRequest.answer === undefined) return 'waiting';
    for (const { pending } of calls.byId.values()) if (pending !== undefined) return 'waiting';
    return this.#parts.frame.activity.hasChildren ? 'idle' : 'busy';
  }

  /**
   * Waits for open work to end, then closes all open calls.
   * @returns `undefined` when the run is released
   */
  async #wind(): Promise<BodyEnd | undefined> {
    await this.#work.ended();
    const { run, scope } = this.#parts.frame;
    if (isReleased(run, scope)) return undefined;
    closeModelCall(this.#parts);
    this.#calls.cancelOpen();
    return cancelledEnd(scope);
  }

  /**
   * Stops open work without a record of its end, because the agent cannot continue in this process.
   */
  async #abandon(error: unknown): Promise<unknown> {
    await this.#work.stop(new AbortReason('stopped', 'The agent could not be carried on.'));
    return error;
  }
}
