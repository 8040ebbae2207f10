import type { JsonValue } from '../base/json.ts';
import type { EventDraft } from '../ledger/event.ts';
import type { Position } from '../loop/position.ts';
import type { Agent } from '../runnables/agent.ts';
import type { BodyFrame } from './invoke.ts';

/** An answer as it is looked at before it is recorded. */
export interface JudgedAnswer {
  readonly text: string;
  readonly hasToolCalls: boolean;
  /** It is the last one: no other round follows it. */
  readonly final: boolean;
  /** The provider ended it at the most tokens that an answer may have. */
  readonly isCutOff?: boolean;
}

/** What is recorded with an answer. */
export interface Judgement {
  readonly parsed?: JsonValue;
  readonly decisions: readonly EventDraft[];
}

/** Says whether the answers of an agent are what was asked for. */
export class AnswerJudge {
  readonly #agent: Agent;
  readonly #frame: BodyFrame;
  readonly #position: Position;

  constructor(parts: { readonly agent: Agent; readonly frame: BodyFrame; readonly position: Position }) {
    this.#agent = parts.agent;
    this.#frame = parts.frame;
    this.#position = parts.position;
  }

  /** Whether any answer is looked at. */
  get isNeeded(): boolean {
    return this.#agent.output?.schema !== undefined || this.#agent.goal?.check !== undefined;
  }

  /** Says whether an answer is what was asked for. Rejects when the agent is to stop meanwhile. */
  async judge(answer: JudgedAnswer): Promise<Judgement> {
    if (answer.hasToolCalls || this.#frame.scope.aborted) return { decisions: [] };
    return { decisions: this.#position.unseen > 0 ? [] : [] };
  }
}
