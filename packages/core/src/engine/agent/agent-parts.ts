import { CancelScope } from '../../base/cancel-scope.ts';
import { type Position, startPosition } from '../../loop/position.ts';
import { foldPosition } from '../../loop/position-fold.ts';
import { toModel } from '../../models/model.ts';
import { parseModelName } from '../../models/model-name.ts';
import type { Agent } from '../../runnables/agent.ts';
import { type ResolvedCompaction, resolveCompaction } from '../../runnables/compaction-options.ts';
import { defaultGuardrails } from '../../supervision/guardrails/default-guardrails.ts';
import { resolveSupervision, type Supervision } from '../../supervision/options.ts';
import type { AgentBudget } from '../frame/budget/agent-budget.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { HookPipeline } from './hooks/hook-pipeline.ts';
import { AgentTools } from './tool-lookup.ts';

/** Parts of one agent invocation that all of its steps share. */
export interface AgentParts {
  readonly agent: Agent;
  readonly frame: BodyFrame;
  readonly position: Position;
  readonly supervision: Supervision;
  readonly compaction: ResolvedCompaction;
  readonly budget: AgentBudget;
  readonly tools: AgentTools;
  /** Missing when there are no hooks, middleware or error handlers. */
  readonly hooks: HookPipeline | undefined;
  /** Scope of all work that the agent has started. The work ends with the agent. */
  readonly work: CancelScope;
}

/** The agent with the model that its run names in the place of its own. */
function withModelOf(agent: Agent, { model }: { readonly model?: string }): Agent {
  return model === undefined ? agent : { ...agent, model: parseModelName(model) };
}

/** Makes the parts of an agent that begins, or continues from its recorded events. */
export function agentParts(given: Agent, frame: BodyFrame): AgentParts {
  const { run, record, resumed, scope } = frame;
  const agent = withModelOf(given, record.start);
  const { app, ledger } = run;
  const position = resumed
    ? foldPosition(record.path, ledger.events, (event) => ledger.whole(event))
    : startPosition(record.path);
  const models = [agent.model, ...agent.fallbackModels].map(toModel);
  return {
    agent,
    frame,
    position,
    supervision: resolveSupervision(app.supervision, agent.supervision, defaultGuardrails),
    compaction: resolveCompaction(app.compaction, agent.compaction),
    budget: run.budget.of(record.path, { limits: agent.limits, models, isNew: !resumed }),
    tools: new AgentTools(agent, app.tools),
    hooks: HookPipeline.of(agent, frame, () => position.model.call?.start.round ?? 0),
    work: new CancelScope(scope),
  };
}
