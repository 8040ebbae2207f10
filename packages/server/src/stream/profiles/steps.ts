import { type Event, type EventOf, isDurable } from 'adjutant';
import { defined } from 'adjutant/text';
import type { Folded, Frame, Profile } from '../frame.ts';
import { isRoot, runOf } from '../run-state.ts';
import { type EventHandlers, silent, without } from './event-handlers.ts';

/** A round of an agent that is under way. */
interface OpenStep {
  readonly id: string;
  /** Place among the steps of the run, from 1. */
  readonly number: number;
  readonly agent: string;
  readonly startedAt: number;
  readonly tokens: number;
  /** Calls that have no result yet. */
  readonly calls: readonly string[];
}

interface StepsState {
  /** Steps that each open run has begun. */
  readonly counts: Readonly<Record<string, number>>;
  /** By invocation: an agent has one round at a time. */
  readonly steps: Readonly<Record<string, OpenStep>>;
}

type StepsFolded = Folded<StepsState>;

function told(state: StepsState, ...frames: readonly Frame[]): StepsFolded {
  return { state, frames };
}

function withStep(state: StepsState, invocationId: string, step: OpenStep): StepsState {
  return { ...state, steps: { ...state.steps, [invocationId]: step } };
}

/** Ends the step that an invocation has open, if it has one. */
function closed(state: StepsState, invocationId: string, at: number): StepsFolded {
  const step = state.steps[invocationId];
  if (step === undefined) return told(state);
  const data = {
    step_id: step.id,
    step_number: step.number,
    agent_id: step.agent,
    tokens_used: step.tokens,
    latency_ms: Math.max(0, at - step.startedAt),
  };
  return told({ ...state, steps: without(state.steps, invocationId) }, { event: 'step_end', data });
}

function modelStart(state: StepsState, event: EventOf<'model_start'>): StepsFolded {
  const { invocationId, agent, round, at } = event;
  const id = `${invocationId}/r${round}`;
  // Another attempt of the same round.
  if (state.steps[invocationId]?.id === id) return told(state);
  const before = closed(state, invocationId, at);
  const run = runOf(invocationId);
  const number = (before.state.counts[run] ?? 0) + 1;
  const counted = { ...before.state, counts: { ...before.state.counts, [run]: number } };
  const next = withStep(counted, invocationId, {
    id,
    number,
    agent,
    startedAt: at,
    tokens: 0,
    calls: [],
  });
  return told(next, ...before.frames, {
    event: 'step_start',
    data: { step_id: id, step_number: number, agent_id: agent },
  });
}

function modelEnd(state: StepsState, event: EventOf<'model_end'>): StepsFolded {
  const step = state.steps[event.invocationId];
  const { error, usage } = event;
  const frames = error === undefined ? [] : [errorFrame(error, step?.id)];
  if (step === undefined) return told(state, ...frames);
  const next = withStep(state, event.invocationId, {
    ...step,
    tokens: step.tokens + usage.inputTokens + usage.outputTokens,
  });
  if (event.status !== 'completed' || step.calls.length > 0) return told(next, ...frames);
  const end = closed(next, event.invocationId, event.at);
  return told(end.state, ...frames, ...end.frames);
}

function errorFrame(
  error: { readonly code: string; readonly message: string },
  stepId: string | undefined,
): Frame {
  return {
    event: 'error',
    data: {
      error_type: error.code,
      message: error.message,
      ...defined({ step_id: stepId }),
    },
  };
}

function toolCall(state: StepsState, event: EventOf<'tool_call'>): StepsFolded {
  const { invocationId = '', callId, name, args, agent } = event;
  const step = state.steps[invocationId];
  const next =
    step === undefined
      ? state
      : withStep(state, invocationId, { ...step, calls: [...step.calls, callId] });
  const data = {
    tool_name: name,
    tool_input: args,
    call_id: callId,
    agent_id: agent,
    ...defined({ step_id: step?.id }),
  };
  return told(next, { event: 'tool_call_start', data });
}

function toolResult(state: StepsState, event: EventOf<'tool_result'>): StepsFolded {
  const { invocationId = '', callId, name, result, durationMs, settled } = event;
  const step = state.steps[invocationId];
  // Effects have results without a call.
  if (step === undefined || !step.calls.includes(callId)) return told(state);
  if (!settled) return told(state, unsettled(event, step));
  const data = {
    tool_name: name,
    tool_output: result.content,
    latency_ms: durationMs,
    validation_ok: result.errorType !== 'validation_error',
    status: result.status,
    call_id: callId,
    step_id: step.id,
  };
  const left = step.calls.filter((call) => call !== callId);
  const next = withStep(state, invocationId, { ...step, calls: left });
  const end = left.length > 0 ? told(next) : closed(next, invocationId, event.at);
  return told(end.state, { event: 'tool_call_result', data }, ...end.frames);
}

/** An attempt that is followed by another one. */
function unsettled({ name, result }: EventOf<'tool_result'>, step: OpenStep): Frame {
  const message =
    typeof result.content === 'string'
      ? result.content
      : `An attempt of "${name}" failed (${result.status}).`;
  return errorFrame({ code: result.errorType ?? result.status, message }, step.id);
}

function invocationStart(state: StepsState, event: EventOf<'invocation_start'>): StepsFolded {
  if (event.mode !== 'root') return told(state);
  const run = event.invocationId;
  const data = { run_id: run, agent_id: event.name, config_version: event.version ?? null };
  return told({ ...state, counts: { ...state.counts, [run]: 0 } }, { event: 'run_start', data });
}

/** Spelling in `run_end` of each status of an invocation. */
const runStatuses: Readonly<Record<EventOf<'invocation_end'>['status'], string>> = {
  completed: 'completed',
  transferred: 'completed',
  error: 'failed',
  cancelled: 'cancelled',
};

/** A warning that a limit is nearly used up. Other decisions are silent. */
function decided(state: StepsState, event: EventOf<'decision'>): StepsFolded {
  const { component, decision, data = {}, invocationId = '' } = event;
  if (component !== 'limits' || decision !== 'warn') return silent(state);
  const { reason = null, used = null, limit = null, of } = data;
  const warning = { run_id: runOf(invocationId), reason, used, limit };
  return told(state, {
    event: 'budget_warning',
    data: of === undefined ? warning : { ...warning, of },
  });
}

function invocationEnd(state: StepsState, event: EventOf<'invocation_end'>): StepsFolded {
  const { invocationId, status, output, error, stopReason, next } = event;
  const end = closed(state, invocationId, event.at);
  if (!isRoot(invocationId) || next !== undefined) return end;
  const run = runOf(invocationId);
  const data = {
    run_id: run,
    status: runStatuses[status],
    ...defined({ output, error, stop_reason: stopReason }),
  };
  return told({ ...end.state, counts: without(end.state.counts, run) }, ...end.frames, {
    event: 'run_end',
    data,
  });
}

const handlers: EventHandlers<StepsState> = {
  user: silent,
  assistant: silent,
  thought: silent,
  tool_call: toolCall,
  tool_attempt: silent,
  tool_result: toolResult,
  tool_yield: silent,
  tool_input: silent,
  state_change: silent,
  invocation_start: invocationStart,
  invocation_yield: silent,
  invocation_resume: silent,
  invocation_end: invocationEnd,
  invocation_reopen: silent,
  model_start: modelStart,
  model_end: modelEnd,
  handoff: (state, { from, to, reason }) =>
    told(state, {
      event: 'handoff',
      data: { from_agent: from, to_agent: to, ...defined({ reason }) },
    }),
  decision: decided,
  compaction: silent,
  memory: silent,
  artifact: silent,
  plan: silent,
  plan_update: silent,
  error: (state, event) =>
    told(state, errorFrame(event.error, state.steps[event.invocationId ?? '']?.id)),
  cancel: silent,
};

/**
 * Runs as steps: rounds of agents, their tool calls, handoffs and failures. All of it is durable.
 */
export const stepsProfile: Profile<StepsState> = {
  start: { counts: {}, steps: {} },
  fold: (state, event) =>
    isDurable(event)
      ? (handlers[event.type] as (state: StepsState, event: Event) => StepsFolded)(state, event)
      : silent(state),
  resumed: (state) => state,
};
