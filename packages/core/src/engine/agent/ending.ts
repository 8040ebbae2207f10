import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { AgentParts } from './agent-parts.ts';
import {
  type AnswerEnd,
  answeredEnd,
  endsWithResult,
  guardedResult,
  readFinal,
} from './answers/answer-end.ts';
import { hasEndedModelCall, hookEnd, joined } from './hooks/hook-end.ts';
import { closeModelCall } from './interrupted-model-call.ts';

/** End of one agent invocation, as its hooks, its schema and the guardrails make it. */
export class AgentEnding {
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /**
   * Asks the `beforeAgent` hooks for an end before any other step. After a stop they are asked
   * again if no model call has ended: only its end records their writes.
   */
  async beforeFirstStep(): Promise<BodyEnd | undefined> {
    const { agent, frame, hooks } = this.#parts;
    const { record, scope } = frame;
    if (hooks?.has('beforeAgent') !== true || hasEndedModelCall(record) || scope.aborted)
      return undefined;
    const given = await hooks.agent.before();
    if (given === undefined || scope.aborted) return undefined;
    closeModelCall(this.#parts);
    return hookEnd(frame, agent, given, hooks.takeWrites());
  }

  /** True when `checked` must see the end first. */
  get isChecked(): boolean {
    const { agent, hooks, position } = this.#parts;
    return hooks?.has('afterAgent') === true || endsWithResult(agent, position);
  }

  /**
   * Returns the end with the output that the schema and hooks make of it.
   * @param isLast true while the next step of the agent is still its end
   * @returns `undefined` when a message has come meanwhile, which must be answered first
   */
  async checked(given: BodyEnd, isLast: () => boolean): Promise<BodyEnd | undefined> {
    const { agent, frame, hooks, position } = this.#parts;
    const finish = (output: JsonValue) => this.answered({ output, stopReason: given.stopReason });
    const end = endsWithResult(agent, position) ? await readFinal(agent, given, finish) : given;
    if (hooks?.has('afterAgent') !== true || end.status !== 'completed') return end;
    const output = await hooks.agent.after(end.output ?? null);
    // A final result or a refusal stays the end, even after a new message.
    if (frame.scope.aborted || !isLast()) return undefined;
    const finished = this.answered({ output, stopReason: end.stopReason });
    const { drafts, extras } = hooks.takeWrites();
    return {
      ...finished,
      before: [...(finished.before ?? []), ...drafts],
      extras: joined(finished.extras, extras),
    };
  }

  /** Returns the end of an agent that has answered. */
  answered(end: AnswerEnd): BodyEnd {
    const { agent, frame, position, supervision, tools } = this.#parts;
    if (position.ending.result === undefined) return answeredEnd(frame, agent, position, end);
    const check = {
      agent: agent.name,
      round: position.model.rounds,
      tools: tools.all().map(({ name }) => name),
    };
    const { decisions, ...checked } = guardedResult(frame, check, supervision.guardrails, end);
    const finished = answeredEnd(frame, agent, position, checked);
    return decisions.length === 0
      ? finished
      : { ...finished, before: [...(finished.before ?? []), ...decisions] };
  }
}
