import { type EventDraft, isDurable, type StreamEvent } from 'adjutant';
import fc from 'fast-check';

interface Agent {
  readonly path: string;
  readonly name: string;
  round: number;
  attempt: number;
  isAnswering: boolean;
  isEnded: boolean;
  streamed: string;
  /** Calls without a result. */
  readonly calls: string[];
  readonly asked: string[];
}

interface Move {
  readonly kind:
    | 'agent'
    | 'delta'
    | 'answer'
    | 'fail'
    | 'result'
    | 'retry'
    | 'ask'
    | 'reply'
    | 'respond'
    | 'effect'
    | 'planHandoff'
    | 'end'
    | 'rest'
    | 'other';
  readonly pick: number;
  readonly value: number;
}

/** Makes what a session streams: durable events, and between them parts of answers. */
class StreamMaker {
  readonly events: StreamEvent[] = [];
  readonly #agents: Agent[] = [];
  #seq = 0;
  #runs = 0;

  /** Carries a move out; one that is not possible is left out. */
  make({ kind, pick, value }: Move): void {
    const open = this.#agents.filter(({ isEnded }) => !isEnded);
    const agent = open[pick % Math.max(1, open.length)];
    if (kind === 'agent') this.#begin(agent, value);
    else if (agent !== undefined) this.#moves[kind](agent, value);
  }

  #add(draft: EventDraft): void {
    const seq = ++this.#seq;
    this.events.push(
      Object.freeze({ v: 1, seq, id: `e${seq}`, at: 1_000 + seq * 10, ...draft }) as StreamEvent,
    );
  }

  #begin(parent: Agent | undefined, value: number): void {
    const isRoot = parent === undefined || value % 4 === 0;
    const name = `agent${this.#agents.length}`;
    const path = isRoot ? `run${++this.#runs}` : `${parent.path}/${name}`;
    this.#add({
      type: 'invocation_start',
      by: 'runtime',
      invocationId: path,
      kind: 'agent',
      name,
      mode: isRoot ? 'root' : 'child',
    });
    this.#agents.push({
      path,
      name,
      round: 0,
      attempt: 0,
      isAnswering: false,
      isEnded: false,
      streamed: '',
      calls: [],
      asked: [],
    });
  }

  #ask({ path, name, round, attempt }: Agent): void {
    const recipe = { encoder: 1, segments: [], resultLimit: 1, settings: 's' } as const;
    this.#add({
      type: 'model_start',
      by: 'runtime',
      invocationId: path,
      agent: name,
      round,
      attempt,
      model: 'p:m',
      estimatedInputTokens: 1,
      recipe,
    });
  }

  /** A round is begun where none is. */
  #answering(agent: Agent): boolean {
    if (agent.isAnswering) return true;
    if (agent.calls.length > 0) return false;
    Object.assign(agent, { round: agent.round + 1, attempt: 1, isAnswering: true, streamed: '' });
    this.#ask(agent);
    return true;
  }

  readonly #moves: Readonly<
    Record<Exclude<Move['kind'], 'agent'>, (agent: Agent, value: number) => void>
  > = {
    delta: (agent, value) => {
      if (!this.#answering(agent)) return;
      const delta = `w${value} `;
      agent.streamed += delta;
      this.events.push({
        type: 'assistant_delta',
        invocationId: agent.path,
        agent: agent.name,
        delta,
      });
    },
    answer: (agent, value) => {
      if (!this.#answering(agent)) return;
      const { path: invocationId, name, round, attempt } = agent;
      // The durable text may be more or other than the streamed one.
      const text =
        value % 5 === 0 ? 'withheld' : value % 3 === 0 ? `${agent.streamed}more` : agent.streamed;
      if (text !== '')
        this.#add({ type: 'assistant', by: 'model', invocationId, agent: name, text, round });
      if (value % 7 === 0)
        this.#add({
          type: 'assistant',
          by: 'model',
          invocationId,
          agent: name,
          text: ' and more',
          round,
        });
      for (let index = 0; index < value % 3; index++) {
        const callId = `${invocationId}/r${round}.${index}`;
        agent.calls.push(callId);
        this.#add({
          type: 'tool_call',
          by: 'model',
          invocationId,
          callId,
          agent: name,
          name: 'do',
          args: {},
          providerCallId: callId,
          round,
          index,
        });
      }
      const usage = { inputTokens: 10, outputTokens: value };
      this.#add({
        type: 'model_end',
        by: 'runtime',
        invocationId,
        round,
        attempt,
        status: 'completed',
        usage,
        durationMs: 5,
      });
      agent.isAnswering = false;
    },
    fail: (agent, value) => {
      if (!agent.isAnswering) return;
      const { path: invocationId, round, attempt } = agent;
      const error = { name: 'ModelError', code: 'model_overloaded', message: 'Too much.' };
      const usage = { inputTokens: 1, outputTokens: 0 };
      const status = value % 3 === 0 ? ('interrupted' as const) : ('error' as const);
      const how = status === 'error' ? { error, retryAfterMs: 5 } : {};
      this.#add({
        type: 'model_end',
        by: 'runtime',
        invocationId,
        round,
        attempt,
        status,
        usage,
        durationMs: 5,
        ...how,
      });
      agent.attempt++;
      this.#ask(agent);
      if (agent.streamed !== '')
        this.events.push({ type: 'stream_reset', invocationId, agent: agent.name });
      agent.streamed = '';
    },
    result: (agent, value) => {
      const callId = agent.calls.shift();
      if (callId === undefined) return;
      const result = { status: 'success' as const, content: value };
      this.#add({
        type: 'tool_result',
        by: 'tool',
        invocationId: agent.path,
        callId,
        name: 'do',
        attempt: 1,
        result,
        settled: true,
        durationMs: 3,
      });
    },
    retry: (agent) => {
      const [callId] = agent.calls;
      if (callId === undefined) return;
      const result = { status: 'error_transient' as const, content: 'no luck' };
      this.#add({
        type: 'tool_result',
        by: 'tool',
        invocationId: agent.path,
        callId,
        name: 'do',
        attempt: 1,
        result,
        settled: false,
        durationMs: 3,
      });
    },
    ask: (agent, value) => {
      const [callId] = agent.calls;
      if (callId === undefined) return;
      const requestId = `request${this.#seq}`;
      agent.asked.push(requestId);
      const kind = (['approval', 'input', 'result'] as const)[value % 3] ?? 'approval';
      const request = { agent: agent.name, summary: 'May I?', options: ['approve' as const] };
      const question = { kind, requestId, generation: 1, fingerprint: 'f', request };
      this.#add({
        type: 'tool_yield',
        by: 'runtime',
        invocationId: agent.path,
        callId,
        name: 'do',
        args: {},
        ...question,
      });
    },
    reply: (agent) => {
      const requestId = agent.asked.shift();
      if (requestId !== undefined)
        this.#add({
          type: 'tool_input',
          by: 'user',
          invocationId: agent.path,
          callId: 'c',
          requestId,
          decision: 'approve',
        });
    },
    respond: (agent, value) =>
      this.#add({
        type: 'assistant',
        by: 'runtime',
        invocationId: agent.path,
        agent: agent.name,
        text: `said ${value}`,
      }),
    effect: (agent, value) => {
      const result = { status: 'success' as const, content: value };
      const callId = `${agent.path}/effect${value}`;
      this.#add({
        type: 'tool_result',
        by: 'tool',
        invocationId: agent.path,
        callId,
        name: 'e',
        attempt: 1,
        result,
        settled: true,
        durationMs: 3,
      });
    },
    planHandoff: (agent) => {
      if (agent.isAnswering) return;
      const to = `agent${this.#agents.length}`;
      const path = `${agent.path}>${to}`;
      this.#add({
        type: 'handoff',
        by: 'runtime',
        invocationId: agent.path,
        from: agent.name,
        to,
        depth: 1,
      });
      this.#add({
        type: 'invocation_end',
        by: 'runtime',
        invocationId: agent.path,
        status: 'transferred',
        next: { name: to },
      });
      agent.isEnded = true;
      this.#add({
        type: 'invocation_start',
        by: 'runtime',
        invocationId: path,
        kind: 'agent',
        name: to,
        mode: 'transfer',
      });
      this.#agents.push({
        path,
        name: to,
        round: 0,
        attempt: 0,
        isAnswering: false,
        isEnded: false,
        streamed: '',
        calls: [],
        asked: [],
      });
    },
    end: (agent, value) => {
      if (this.#agents.some(({ path, isEnded }) => !isEnded && path.startsWith(`${agent.path}/`)))
        return;
      agent.isEnded = true;
      const error = { name: 'Error', code: 'failed', message: 'no luck' };
      const how =
        value % 2 === 0
          ? { status: 'completed' as const, output: value }
          : { status: 'error' as const, error };
      this.#add({ type: 'invocation_end', by: 'runtime', invocationId: agent.path, ...how });
    },
    rest: (agent, value) => {
      const reason = value % 2 === 0 ? ('input' as const) : ('tool_input' as const);
      this.#add({ type: 'invocation_yield', by: 'runtime', invocationId: agent.path, reason });
      this.#add({ type: 'invocation_resume', by: 'runtime', invocationId: agent.path });
    },
    other: (agent) =>
      this.#add({ type: 'memory', by: 'tool:do', invocationId: agent.path, text: 'A fact.' }),
  };
}

const kinds = [
  'agent',
  'delta',
  'delta',
  'delta',
  'answer',
  'answer',
  'fail',
  'result',
  'result',
  'retry',
  'ask',
  'reply',
  'respond',
  'effect',
  'planHandoff',
  'end',
  'rest',
  'other',
] as const;
const move = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(1_000),
  value: fc.nat(1_000),
});

/**
 * Streams of sessions: runs one after the other and beside each other, with failures, questions,
 * effects and handoffs.
 */
export const arbitraryStream: fc.Arbitrary<readonly StreamEvent[]> = fc
  .array(move, { minLength: 5, maxLength: 60 })
  .map((moves) => {
    const maker = new StreamMaker();
    maker.make({ kind: 'agent', pick: 0, value: 0 });
    for (const each of moves) maker.make(each);
    return maker.events;
  });

/**
 * Returns the events behind `after` for a client that comes back after `events`: the durable
 * events, and the text so far of answers that are under way.
 */
export function caughtUp(events: readonly StreamEvent[], after: number): readonly StreamEvent[] {
  const answers = new Map<string, { readonly agent: string; text: string }>();
  for (const event of events) {
    if (event.type === 'assistant_delta') {
      const answer = answers.get(event.invocationId) ?? { agent: event.agent, text: '' };
      answer.text += event.delta;
      answers.set(event.invocationId, answer);
    } else if (
      event.type === 'stream_reset' ||
      event.type === 'model_end' ||
      event.type === 'invocation_end'
    )
      answers.delete(event.invocationId);
  }
  const live = [...answers].flatMap(([invocationId, { agent, text }]): StreamEvent[] => [
    { type: 'stream_reset', invocationId, agent },
    { type: 'assistant_delta', invocationId, agent, delta: text },
  ]);
  return [...events.filter((event) => isDurable(event) && event.seq > after), ...live];
}
