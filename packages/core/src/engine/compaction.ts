import type { Position } from '../loop/position.ts';
import type { Model } from '../models/model.ts';
import type { Agent } from '../runnables/agent.ts';
import type { AgentPrompts, PreparedCall } from './agent-prompts.ts';
import type { BodyFrame } from './invoke.ts';

export interface AgentCompactionParts {
  readonly frame: BodyFrame;
  readonly agent: Agent;
  readonly position: Position;
  readonly prompts: AgentPrompts;
}

/** Keeps the prompts of one agent invocation within the window of its model. */
export class AgentCompaction {
  readonly #parts: AgentCompactionParts;

  constructor(parts: AgentCompactionParts) {
    this.#parts = parts;
  }

  /**
   * Looks at a prompt before it is sent. `false`: it is to be sent as it is.
   * @returns whether a compaction was recorded: the prompt is to be made anew then
   */
  guard(_prepared: PreparedCall, _model: Model): Promise<boolean> | false {
    return false;
  }

  /** Makes the prompt shorter after the provider has refused it as too long; when nothing more can be left out, the agent is to fail. */
  async recover(_model: Model): Promise<void> {
    const { frame, position } = this.#parts;
    const failure = position.model?.end?.error;
    frame.run.ledger.append([
      {
        type: 'decision',
        by: 'runtime',
        invocationId: frame.record.path,
        component: 'context',
        decision: 'give_up',
        reasoning: 'The prompt is too long for the model, and nothing more can be left out.',
        data: { failure: { name: 'ModelError', code: 'model_context_overflow', message: failure?.message ?? 'The conversation is too long.' } },
      },
    ]);
  }
}
