import { assertToolIsThere } from '../../effects/request/unused-answer.ts';
import { resultDraft } from '../../effects/result-draft.ts';
import { assertContinuable } from '../../effects/tool-call/begun-work.ts';
import { resultOfInterrupted } from '../../effects/tool-call/interrupted-attempt.ts';
import { performRecovery, performResolution } from '../../effects/tool-call/perform-recovery.ts';
import { performToolCall } from '../../effects/tool-call/perform-tool-call.ts';
import type { ToolCallPorts } from '../../effects/tool-call/ports.ts';
import { knownEffect } from '../../effects/tool-call/refusal-draft.ts';
import { cancelledBefore, cancelledMeanwhile } from '../../effects/tool-call/result-texts.ts';
import type { EventOf } from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { AttemptState, CallState } from '../../loop/call-state.ts';
import type { Intent } from '../../loop/intent.ts';
import type { Tool } from '../../tools/tool.ts';
import { sleepUntil } from '../frame/sleep-until.ts';
import { hasBegunBelow } from '../invoke/context/body-effects.ts';
import { isReleased } from '../invoke/invoke.ts';
import type { AgentParts } from './agent-parts.ts';
import { toolCallPorts } from './call-ports.ts';
import { continueSpawned } from './continuation.ts';
import type { WorkUnderWay } from './work-under-way.ts';

/** Tool calls of one agent invocation. */
export class AgentCalls {
  readonly #parts: AgentParts;
  readonly #work: WorkUnderWay;
  readonly #ports: ToolCallPorts;

  constructor(parts: AgentParts, work: WorkUnderWay) {
    this.#parts = parts;
    this.#work = work;
    this.#ports = toolCallPorts(parts, work);
  }

  async perform({ call, attempt, notBefore }: Extract<Intent, { type: 'tool' }>): Promise<void> {
    const { frame } = this.#parts;
    if (notBefore !== undefined) await sleepUntil(frame, notBefore);
    if (frame.scope.aborted && isReleased(frame.run, frame.scope)) return;
    await this.#attempt(call, attempt);
  }

  async #attempt(call: CallState, attempt: number): Promise<void> {
    const { frame, position } = this.#parts;
    await performToolCall(call, attempt, this.#ports);
    if (frame.resumed && position.children.open.size > 0)
      continueSpawned(this.#parts, this.#work, 'ended_calls');
  }

  /** Settles an attempt with an unknown effect as a person or the tool has answered. */
  async resolve({
    call,
    attempt,
    answered,
  }: Extract<Intent, { type: 'resolve_attempt' }>): Promise<void> {
    const { agent, frame } = this.#parts;
    const tool = this.#toolOf(call);
    if (tool !== undefined)
      return performResolution({ state: call, attempt, tool }, answered, this.#ports);
    assertToolIsThere(frame.run.ledger, answered, agent.name);
    this.#settleInterrupted(call, attempt);
  }

  /**
   * Goes on with an attempt that waited for its children, and settles one that a stopped process
   * left open. The call waits only when its tool or a person must say how it ended.
   */
  close({ key, call, attempt }: Extract<Intent, { type: 'close_attempt' }>): void {
    const checking = assertContinuable(call, this.#ports);
    const { resumption } = this.#parts.frame.run;
    if (this.#hasChildren(call) && resumption.wasWaiting(call.call.callId)) {
      const goesOn = (): Promise<void> => this.#attempt(call, attempt.attempt);
      this.#work.start(key, checking === undefined ? goesOn() : checking.then(goesOn));
      return;
    }
    const tool = this.#toolOf(call);
    const asks =
      tool !== undefined && (tool.recovery === 'ask' || typeof tool.recovery === 'function');
    const settle = (): void => this.#settleInterrupted(call, attempt);
    if (checking !== undefined) this.#work.start(key, checking.then(settle));
    else if (asks && !this.#hasChildren(call))
      this.#work.start(key, performRecovery({ state: call, attempt, tool }, this.#ports));
    else settle();
  }

  #settleInterrupted(call: CallState, attempt: AttemptState): void {
    const { run, record } = this.#parts.frame;
    const { result, settled } = resultOfInterrupted(
      call,
      this.#toolOf(call),
      this.#hasChildren(call),
    );
    run.ledger.append([
      resultDraft(call.call, record.path, attempt.attempt, result, {
        settled,
        durationMs: 0,
        effect: 'unknown',
        ...(settled ? {} : { retryAfterMs: 0 }),
      }),
    ]);
  }

  /** Closes the open calls of a cancelled agent: each gets one settled result. */
  cancelOpen(): void {
    const { run, record } = this.#parts.frame;
    for (const call of this.#parts.position.calls.byId.values()) {
      if (call.settled !== undefined) continue;
      const open = call.attempts.find(({ result }) => result === undefined);
      const draft = resultDraft(
        call.call,
        record.path,
        open?.attempt ?? 0,
        open === undefined ? cancelledBefore() : cancelledMeanwhile(),
        {
          settled: true,
          durationMs: 0,
          effect: open === undefined ? knownEffect(call) : 'unknown',
        },
      );
      run.ledger.append([draft], cancelled(call.pending));
    }
  }

  /** Returns the tool of a call, or the fallback that it was given. */
  #toolOf({ call, fallback }: CallState): Tool | undefined {
    return this.#parts.tools.find(fallback ?? call.name);
  }

  #hasChildren({ call }: CallState): boolean {
    return hasBegunBelow(this.#parts.frame.record, call.callId);
  }
}

/** Returns the settlement that cancels a request, for the append that ends its call. */
function cancelled(request: EventOf<'tool_yield'> | undefined): BatchExtras | undefined {
  return request === undefined
    ? undefined
    : { settles: [{ requestId: request.requestId, status: 'cancelled', by: 'runtime' }] };
}
