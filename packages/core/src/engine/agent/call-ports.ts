import { standingIn } from '../../effects/stand-ins.ts';
import type { ToolAttempt, ToolBody, ToolCallPorts } from '../../effects/tool-call/ports.ts';
import { unknownToolType } from '../../ledger/tool-name.ts';
import { sleepUntil } from '../frame/sleep-until.ts';
import { ToolBodyContext } from '../invoke/bodies/tool.ts';
import { hasBegunBelow, openBelow } from '../invoke/context/body-effects.ts';
import { planHandoff } from '../invoke/handoff.ts';
import { recordedBase } from '../invoke/state/recorded-writes.ts';
import { stateAfter } from '../invoke/state/state-base.ts';
import type { AgentParts } from './agent-parts.ts';
import { ToolSupervision } from './supervision/tool-supervision.ts';
import type { WorkUnderWay } from './work-under-way.ts';

/** Returns what the tool calls of an agent need of it and of its run. */
export function toolCallPorts(parts: AgentParts, work: WorkUnderWay): ToolCallPorts {
  const { agent, frame, position, supervision, hooks, tools } = parts;
  const { run, record } = frame;
  return {
    ledger: run.ledger,
    clock: run.app.clock,
    scope: parts.work,
    path: record.path,
    defaults: run.app.defaults,
    find: (name) => standingIn(tools.find(name), agent.name, run.app.standIns),
    get names() {
      return [...agent.tools, ...run.app.tools.list()].map(({ name }) => name);
    },
    get hasListedNames() {
      return position.supervision.evidence.some(
        ({ result }) => result.errorType === unknownToolType,
      );
    },
    isWaiting: (callId) => work.isWaiting(callId),
    begunBelow: (callId) =>
      hasBegunBelow(record, callId) ? { open: openBelow(frame, callId) } : undefined,
    sleepUntil: (at) => sleepUntil(frame, at),
    makeBody: (attempt) => toolBody(parts, work, attempt),
    planHandoff: (target, back) => planHandoff(run, record.path, target, { back }),
    supervisor: new ToolSupervision({ frame, position, supervision, hooks, tools }),
    around: run.tracing?.tool,
  };
}

/** Returns the body of an attempt. After a stop it reads the state that its first attempt read. */
function toolBody(parts: AgentParts, work: WorkUnderWay, attempt: ToolAttempt): ToolBody {
  const { run, record, activity } = parts.frame;
  const { call } = attempt;
  const { path } = record;
  const seq = hasBegunBelow(record, call.callId)
    ? recordedBase(run.ledger, path, call.callId)
    : undefined;
  return new ToolBodyContext(attempt, {
    run,
    path,
    childRoot: call.callId,
    callId: call.callId,
    by: `tool:${call.name}`,
    scope: attempt.scope,
    activity: () => work.activityOf(call.callId),
    ownerScope: parts.work,
    ownerActivity: activity,
    startedAt: call.at,
    stateSchema: attempt.tool.stateSchema,
    base: seq === undefined ? undefined : { state: stateAfter(run.ledger, seq), seq },
    onChild: () => attempt.beforeChild(),
  });
}
