import type { Event, EventDraft, Runtime } from 'adjutant';

const eventsPerRun = 10;
const eventsPerAppend = 5_000;
const runMs = 4_000;

/** Appends runs that call a tool, write state and answer, until the session has so many events. */
export async function appendLongSession(
  app: Runtime,
  session: string,
  count: number,
): Promise<void> {
  const ledgers = app.store.for({ tenant: app.tenant, app: app.app });
  const claim = await ledgers.claim(session, 'bench', { ttlMs: 600_000, force: true });
  const start = Date.now() - (count / eventsPerRun) * runMs;
  let events: Event[] = [];
  for (let seq = claim.seq + 1; seq <= count; seq++) {
    const run = Math.floor((seq - 1) / eventsPerRun);
    const place = (seq - 1) % eventsPerRun;
    const draft = draftsOf(run)[place];
    const at = start + run * runMs + place * 300;
    events.push({ v: 1, seq, id: `long${seq}`, at, by: 'runtime', ...draft } as Event);
    if (events.length < eventsPerAppend && seq < count) continue;
    await ledgers.append(session, { seq: seq - events.length, epoch: claim.epoch }, { events });
    events = [];
  }
  await ledgers.release(claim);
}

function draftsOf(run: number): readonly Omit<EventDraft, 'by'>[] {
  const id = `run_${run}`;
  const common = { invocationId: id, agent: 'worker' };
  const usage = { inputTokens: 900 + run, outputTokens: 40 };
  const callId = `${id}/r1.0`;
  const change = { key: `case.${run % 50}`, oldValue: run - 50, newValue: run };
  const drafts: readonly unknown[] = [
    { type: 'user', text: `What is order ${run}?`, by: 'user' },
    { type: 'invocation_start', invocationId: id, kind: 'agent', name: 'worker', mode: 'root' },
    { type: 'model_start', ...common, model: 'scripted', round: 1, attempt: 1, recipe: {} },
    { type: 'tool_call', ...common, callId, name: 'findOrder', args: { order: run } },
    { type: 'model_end', invocationId: id, round: 1, attempt: 1, status: 'completed', usage },
    {
      type: 'tool_result',
      invocationId: id,
      callId,
      name: 'findOrder',
      attempt: 1,
      durationMs: 20,
      result: { status: run % 20 === 0 ? 'timeout' : 'success', content: `order ${run} is sent` },
      settled: true,
    },
    {
      type: 'state_change',
      invocationId: id,
      scope: 'session',
      source: 'mutation',
      changes: [change],
    },
    {
      ...{ type: 'decision', invocationId: id, component: 'context', decision: 'keep' },
      reasoning: 'The prompt is short enough.',
    },
    { type: 'assistant', ...common, text: `Order ${run} is on its way.`, round: 1 },
    { type: 'invocation_end', invocationId: id, status: 'completed', output: `order ${run}` },
  ];
  return drafts as readonly Omit<EventDraft, 'by'>[];
}
