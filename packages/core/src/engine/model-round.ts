import type { CancelScope } from '../base/cancel-scope.ts';
import { isAdjutantError } from '../base/error.ts';
import { performModelCall } from '../effects/model-call.ts';
import { awaitsBudget, type Frame } from '../loop/decide.ts';
import type { Intent } from '../loop/intent.ts';
import type { Position } from '../loop/position.ts';
import { toModel } from '../models/model.ts';
import type { Agent } from '../runnables/agent.ts';
import type { Supervision } from '../supervision/options.ts';
import { AgentPrompts, defaultRenderers } from './agent-prompts.ts';
import type { AgentTools } from './agent-tools.ts';
import { AgentCompaction } from './compaction.ts';
import type { BodyFrame } from './invoke.ts';

/** What the model calls of an agent need of it. */
export interface ModelRoundParts {
  readonly agent: Agent;
  readonly frame: BodyFrame;
  readonly position: Position;
  readonly decideFrame: Frame;
  readonly tools: AgentTools;
  /** All that the agent has started: it ends with the agent. */
  readonly work: CancelScope;
  readonly supervision: Supervision;
  sleepUntil(at: number): Promise<void>;
  reportRound(): Promise<void>;
}

/** Makes the model calls of one agent invocation: everything between the decision to make one and its recorded answer. */
export class ModelRounds {
  readonly #parts: ModelRoundParts;
  readonly #prompts: AgentPrompts;
  readonly #compaction: AgentCompaction;

  constructor(parts: ModelRoundParts) {
    this.#parts = parts;
    const { agent, frame } = parts;
    this.#prompts = new AgentPrompts({ run: frame.run, agent, record: frame.record, renderers: agent.context ?? defaultRenderers });
    this.#compaction = new AgentCompaction({ frame, agent, position: parts.position, prompts: this.#prompts });
  }

  async call(intent: Extract<Intent, { type: 'model' }>): Promise<void> {
    const { agent, frame, position, decideFrame, tools, work } = this.#parts;
    const { run, record, scope } = frame;
    if (intent.notBefore !== undefined) await this.#parts.sleepUntil(intent.notBefore);
    if (run.onStep !== undefined) await this.#parts.reportRound();
    const refreshing = this.#refresh();
    if (refreshing !== undefined) await refreshing;
    if (scope.aborted) return;
    // Another branch may have begun a call meanwhile: what is to be done is asked anew.
    if (intent.attempt === 1 && !intent.final && awaitsBudget(position, decideFrame)) return;
    const model = toModel(agent.model);
    const making = this.#prompts.prepare({
      round: intent.round,
      tools: tools.all(),
      final: intent.final,
      model,
      resultLimit: position.resultLimit,
    });
    const prepared = making instanceof Promise ? await making : making;
    if (prepared === undefined) return;
    // What is compacted is made anew: it is asked again what is to be done.
    const compacting = this.#compaction.guard(prepared, model);
    if (compacting !== false && (await compacting)) return;
    if (scope.aborted) return;
    await performModelCall(
      {
        path: record.path,
        agent: agent.name,
        model,
        round: intent.round,
        attempt: intent.attempt,
        errorsBefore: position.modelErrors,
        options: prepared.options,
        recipe: prepared.recipe,
        characters: prepared.characters,
        final: intent.final,
        toolName: (wireName) => tools.canonicalName(wireName),
      },
      {
        ledger: run.ledger,
        clock: run.app.clock,
        random: run.app.random,
        scope: work,
        prices: run.app.prices,
        emit: run.emit,
        interruptions: run.interruptions,
      },
    );
  }

  /** Makes the prompt shorter after the provider has refused it as too long; when nothing is left to leave out, the agent is to fail. */
  recoverFromOverflow(): Promise<void> {
    return this.#compaction.recover(toModel(this.#parts.agent.model));
  }

  /** Shared state that the prompt may need; `undefined` when there is nothing to fetch. A store that fails is no failure of the agent. */
  #refresh(): Promise<void> | undefined {
    const { run } = this.#parts.frame;
    if (run.session.shared.names.length === 0) return undefined;
    return run.session.observeShared().catch((error: unknown) => {
      if (!isAdjutantError(error, 'store_unavailable')) throw error;
      run.giveUp(error);
    });
  }
}
