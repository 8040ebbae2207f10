import type { Event, EventDraft } from '../../src/ledger/event.ts';
import { decide, type Frame } from '../../src/loop/decide.ts';
import { foldPosition } from '../../src/loop/position-fold.ts';
import type { Account, Demand } from '../../src/supervision/limits.ts';

export const path = 'run';
const recipe = { encoder: 1 as const, segments: [], resultLimit: 2_000, settings: 'none' };
export const base = { by: 'runtime' as const, invocationId: path };
export const user: EventDraft = { type: 'user', by: 'user', invocationId: path, text: 'Go' };
export const asked = (round: number, attempt = 1): EventDraft => ({
  ...base,
  type: 'model_start',
  agent: 'a',
  round,
  attempt,
  model: 'm',
  recipe,
  estimatedInputTokens: 1,
});
export const answered = (round: number, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'model_end',
    round,
    attempt: 1,
    status: 'completed',
    usage: { inputTokens: 10, outputTokens: 5 },
    durationMs: 1,
    ...more,
  }) as EventDraft;
export const said = (round: number, text = 'done'): EventDraft => ({
  ...base,
  by: 'model',
  type: 'assistant',
  agent: 'a',
  round,
  text,
});
export const called = (round: number, index = 0): EventDraft => ({
  ...base,
  by: 'model',
  type: 'tool_call',
  callId: `${path}/r${round}.${index}`,
  agent: 'a',
  name: 't',
  args: {},
  providerCallId: `c${round}.${index}`,
  round,
  index,
});
export const attempted = (round: number, index = 0, attempt = 1): EventDraft => ({
  ...base,
  type: 'tool_attempt',
  callId: `${path}/r${round}.${index}`,
  attempt,
  key: 'k',
  epoch: 1,
});
export const resulted = (round: number, index = 0, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'tool_result',
    callId: `${path}/r${round}.${index}`,
    name: 't',
    attempt: 1,
    result: { status: 'success', content: 1 },
    settled: true,
    durationMs: 1,
    ...more,
  }) as EventDraft;
export const yielded = (index: number, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'tool_yield',
    callId: `${path}/r1.${index}`,
    name: 't',
    args: {},
    kind: 'approval',
    requestId: `q${index}`,
    generation: 1,
    fingerprint: 'f',
    request: { agent: 'a', summary: '', options: ['approve', 'reject'] },
    ...more,
  }) as EventDraft;
export const given = (index: number, decision = 'approve', requestId = `q${index}`): EventDraft =>
  ({
    ...base,
    by: 'user',
    type: 'tool_input',
    callId: `${path}/r1.${index}`,
    requestId,
    decision,
  }) as EventDraft;
export const spawned: EventDraft = {
  by: 'runtime',
  type: 'invocation_start',
  invocationId: `${path}/r1.0/child`,
  kind: 'step',
  name: 'child',
  mode: 'spawn',
};
export const childEnded = (more: object = {}): EventDraft =>
  ({
    by: 'runtime',
    type: 'invocation_end',
    invocationId: `${path}/r1.0/child`,
    status: 'completed',
    ...more,
  }) as EventDraft;
export const limitNote = (decision: 'warn' | 'exhausted', reason: string): EventDraft => ({
  ...base,
  type: 'decision',
  component: 'limits',
  decision,
  reasoning: '',
  data: { reason },
});

export function numbered(drafts: readonly EventDraft[]): readonly Event[] {
  return drafts.map(
    (draft, i) => ({ v: 1, seq: i + 1, id: `e${i}`, at: 1_000 + i, ...draft }) as Event,
  );
}

const nothing = { rounds: 0, tokens: 0, cost: 0, errors: 0 };
const unlimited = { rounds: undefined, tokens: undefined, cost: undefined, errors: undefined };

type Limits = Partial<Frame['limits']>;
interface Run {
  readonly used?: Partial<Account['used']>;
  readonly reserved?: Partial<Account['used']>;
  readonly limits?: Partial<Account['limits']>;
  readonly warned?: ReadonlySet<string>;
  readonly demand?: Demand;
}
export function frame(
  limits: Limits = {},
  run: Run = {},
  toolConcurrency = 16,
  hold: Frame['hold'] = 'each',
): Frame {
  const { tokens, cost } = limits;
  const own = {
    of: 'agent' as const,
    path,
    used: nothing,
    reserved: nothing,
    limits: { ...unlimited, tokens, cost },
  };
  const shared = {
    of: 'run' as const,
    path,
    used: { ...nothing, ...run.used },
    reserved: { ...nothing, ...run.reserved },
    limits: { ...unlimited, ...run.limits },
  };
  return {
    limits: {
      rounds: 25,
      tokens: undefined,
      cost: undefined,
      errors: undefined,
      onLimit: 'answer',
      ...limits,
    },
    toolConcurrency,
    hold,
    recoveries: 3,
    onLoop: undefined,
    budget: { accounts: [own, shared], demand: run.demand, warned: run.warned ?? new Set() },
  };
}

export function intents(
  drafts: readonly EventDraft[],
  inFlight: readonly string[] = [],
  given: Frame = frame(),
) {
  const position = foldPosition(path, numbered(drafts));
  const { tokens, cost } = position.limits;
  const [own, ...others] = given.budget.accounts;
  const accounts = [{ ...(own as Account), used: { ...nothing, tokens, cost } }, ...others];
  return decide(position, new Set(inFlight), { ...given, budget: { ...given.budget, accounts } });
}
