import { choose, type LedgerMaker, type Moves, type OpenInvocation } from './maker.ts';

/** Moves that begin and end invocations. */
export const invocationMoves: Moves<
  'start' | 'branches' | 'end' | 'reopen' | 'yield' | 'resume' | 'spawn' | 'detach'
> = {
  start: (maker, { pick, value }) => {
    const parent = choose(maker.open(['sequence', 'step']), value);
    maker.begin(value % 3 === 0 ? undefined : parent, pick, false);
  },
  branches: (maker, { pick, value }) => {
    const parent = choose(maker.open(['parallel']), value);
    if (parent === undefined) return;
    for (let i = 0; i < 1 + (pick % 3); i++) maker.begin(parent, pick + i, true);
  },
  end: (maker, { pick, value }) => end(maker, choose(maker.open(), pick), value),
  reopen: (maker, { pick }) => {
    const failed = choose(
      maker.invocations.filter(({ status }) => status === 'error'),
      pick,
    );
    if (failed === undefined) return;
    failed.status = 'open';
    maker.add({
      type: 'invocation_reopen',
      by: 'operator',
      invocationId: failed.path,
      reason: 'again',
    });
  },
  yield: (maker, { pick, value }) => {
    const one = choose(maker.open(), pick);
    if (one === undefined) return;
    one.status = 'yielded';
    maker.add({
      type: 'invocation_yield',
      by: 'runtime',
      invocationId: one.path,
      reason: value % 2 === 0 ? 'input' : 'tool_input',
    });
  },
  resume: (maker, { pick }) => {
    const one = choose(
      maker.invocations.filter(({ status }) => status === 'yielded'),
      pick,
    );
    if (one === undefined) return;
    one.status = 'open';
    maker.add({ type: 'invocation_resume', by: 'runtime', invocationId: one.path });
  },
  spawn: (maker, { pick }) => {
    const call = choose(
      maker.calls.filter(({ running, agent }) => running && agent.status === 'open'),
      pick,
    );
    if (call !== undefined) maker.begin(call.agent, pick, false, call);
  },
  detach: (maker, { pick }) => {
    const one = choose(
      maker.open().filter(({ mode }) => mode === 'spawn'),
      pick,
    );
    if (one === undefined) return;
    const callId = one.path.slice(0, one.path.lastIndexOf('/'));
    const invocationId = callId.slice(0, callId.lastIndexOf('/'));
    maker.add({
      type: 'decision',
      by: 'tool',
      invocationId,
      component: 'spawn',
      decision: 'detach',
      reasoning: 'It may go on alone',
      data: { path: one.path },
    });
  },
};

function end(maker: LedgerMaker, one: OpenInvocation | undefined, value: number): void {
  if (
    one === undefined ||
    maker.invocations.some(
      ({ path, status }) => status === 'open' && path.startsWith(`${one.path}/`),
    )
  )
    return;
  one.status = value % 3 === 0 ? 'error' : 'completed';
  const error =
    one.status === 'error'
      ? { error: { name: 'Error', code: 'failed', message: 'no luck' } }
      : { output: value };
  maker.add({
    type: 'invocation_end',
    by: 'runtime',
    invocationId: one.path,
    status: one.status,
    ...error,
  });
}
