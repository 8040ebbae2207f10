import { choose, type LedgerMaker, type Moves, type OpenInvocation } from './maker.ts';

/** Moves of models and of the calls that they make. */
export const callMoves: Moves<'round' | 'call' | 'attempt' | 'result' | 'ask' | 'answer'> = {
  round: (maker, { pick }) => round(maker, choose(maker.open(['agent']), pick)),
  call: (maker, { pick, value }) => {
    const agent = choose(maker.open(['agent']), pick);
    if (agent === undefined || agent.round === 0) return;
    const index = agent.calls++;
    const { round } = agent;
    const callId = `${agent.path}/r${round}.${index}`;
    maker.calls.push({
      callId,
      agent,
      attempts: 0,
      running: false,
      settled: false,
      generation: 0,
      requestId: undefined,
    });
    const args = { value };
    maker.add({
      type: 'tool_call',
      by: 'model',
      invocationId: agent.path,
      callId,
      agent: 'agent',
      name: 'do',
      args,
      providerCallId: callId,
      round,
      index,
    });
  },
  attempt: (maker, { pick, value }) => {
    const call = choose(
      maker.calls.filter(
        ({ settled, running, requestId }) => !settled && !running && requestId === undefined,
      ),
      pick,
    );
    if (call === undefined) return;
    call.running = true;
    call.attempts++;
    const { callId, attempts: attempt, agent } = call;
    maker.add({
      type: 'tool_attempt',
      by: 'runtime',
      invocationId: agent.path,
      callId,
      attempt,
      key: `key ${callId}`,
      epoch: 1,
      ...(value % 2 === 0 ? { fingerprint: `fingerprint ${value % 6}` } : {}),
    });
  },
  result: (maker, { pick, value }) => result(maker, pick, value),
  ask: (maker, { pick, value }) => {
    const call = choose(
      maker.calls.filter(({ settled, requestId }) => !settled && requestId === undefined),
      pick,
    );
    if (call === undefined) return;
    const { callId, agent } = call;
    const generation = ++call.generation;
    call.requestId = `${callId}?${generation}`;
    maker.add({
      type: 'tool_yield',
      by: 'runtime',
      invocationId: agent.path,
      callId,
      name: 'do',
      args: { value },
      kind: value % 2 === 0 ? 'approval' : 'input',
      requestId: call.requestId,
      generation,
      fingerprint: 'f',
      request: { agent: 'agent', summary: 'May I?', options: ['approve', 'reject'] },
    });
  },
  answer: (maker, { pick }) => {
    const call = choose(
      maker.calls.filter(({ requestId }) => requestId !== undefined),
      pick,
    );
    if (call?.requestId === undefined) return;
    const { callId, requestId, agent } = call;
    call.requestId = undefined;
    maker.add({
      type: 'tool_input',
      by: 'user',
      invocationId: agent.path,
      callId,
      requestId,
      decision: 'approve',
    });
  },
};

function round(maker: LedgerMaker, agent: OpenInvocation | undefined): void {
  if (agent === undefined || maker.calls.some((call) => call.agent === agent && !call.settled))
    return;
  agent.round++;
  agent.calls = 0;
  const { path: invocationId, round } = agent;
  const model = { agent: 'agent', round, attempt: 1, model: 'p:m', estimatedInputTokens: 1 };
  const recipe = { encoder: 1, segments: [], resultLimit: 1, settings: 's' } as const;
  maker.add({ type: 'model_start', by: 'runtime', invocationId, ...model, recipe });
  const usage = { inputTokens: 10, outputTokens: 1 };
  maker.add({
    type: 'assistant',
    by: 'model',
    invocationId,
    agent: 'agent',
    text: `round ${round}`,
    round,
  });
  maker.add({
    type: 'model_end',
    by: 'runtime',
    invocationId,
    round,
    attempt: 1,
    status: 'completed',
    usage,
    durationMs: 5,
  });
}

function result(maker: LedgerMaker, pick: number, value: number): void {
  const call = choose(
    maker.calls.filter(({ running }) => running),
    pick,
  );
  if (call === undefined) return;
  call.running = false;
  const isUnknown = value % 3 === 0;
  // An attempt that certainly had no effect may be followed by another one.
  const isFinal = isUnknown || value % 4 !== 0;
  call.settled = isFinal;
  if (isFinal) call.requestId = undefined;
  const { callId, attempts: attempt, agent } = call;
  const status = isUnknown ? 'unknown' : isFinal ? 'success' : 'error_transient';
  maker.add({
    type: 'tool_result',
    by: 'tool',
    invocationId: agent.path,
    callId,
    name: 'do',
    attempt,
    result: { status, content: value },
    ...(isUnknown ? { effect: 'unknown' as const } : isFinal ? {} : { effect: 'none' as const }),
    settled: isFinal,
    durationMs: 3,
  });
}
