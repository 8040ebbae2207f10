import type { Event, EventDraft } from 'adjutant';
import fc from 'fast-check';
import { eventVersions } from '../src/ledger/event.ts';

/**
 * What a generated ledger does next. Numbers choose among what is possible at that moment; what is
 * not possible is left out.
 */
interface Move {
  readonly kind:
    | 'start'
    | 'branches'
    | 'end'
    | 'reopen'
    | 'yield'
    | 'resume'
    | 'round'
    | 'call'
    | 'attempt'
    | 'result'
    | 'ask'
    | 'answer'
    | 'state'
    | 'message'
    | 'spawn'
    | 'detach'
    | 'remember'
    | 'compact';
  readonly pick: number;
  readonly value: number;
}

const kinds: readonly Move['kind'][] = [
  'start',
  'branches',
  'end',
  'reopen',
  'yield',
  'resume',
  'round',
  'call',
  'call',
  'attempt',
  'attempt',
  'result',
  'result',
  'ask',
  'answer',
  'state',
  'state',
  'state',
  'message',
  'spawn',
  'detach',
  'remember',
  'compact',
];

interface OpenInvocation {
  readonly path: string;
  readonly kind: 'agent' | 'step' | 'sequence' | 'parallel';
  readonly mode: 'root' | 'child' | 'spawn';
  status: 'open' | 'yielded' | 'completed' | 'error';
  round: number;
  calls: number;
  children: number;
}

interface OpenCall {
  readonly callId: string;
  readonly agent: OpenInvocation;
  attempts: number;
  running: boolean;
  settled: boolean;
  generation: number;
  requestId: string | undefined;
}

/** Carries moves out one after the other, keeping to what a ledger of the engine can look like. */
class LedgerMaker {
  readonly events: Event[] = [];
  readonly #invocations: OpenInvocation[] = [];
  readonly #calls: OpenCall[] = [];

  make(move: Move): void {
    this.#moves[move.kind](move);
  }

  #add(draft: EventDraft): void {
    const seq = this.events.length + 1;
    this.events.push(
      Object.freeze({
        v: eventVersions[draft.type],
        seq,
        id: `e${seq}`,
        at: 1_000 + seq * 10,
        ...draft,
      }) as Event,
    );
  }

  #open(
    kinds: readonly OpenInvocation['kind'][] = ['agent', 'step', 'sequence', 'parallel'],
  ): readonly OpenInvocation[] {
    return this.#invocations.filter((one) => one.status === 'open' && kinds.includes(one.kind));
  }

  #begin(
    parent: OpenInvocation | undefined,
    pick: number,
    branch: boolean,
    spawnedBy?: OpenCall,
  ): void {
    const kind = (['agent', 'step', 'sequence', 'parallel'] as const)[
      pick % 4
    ] as OpenInvocation['kind'];
    const name = `${kind}${parent === undefined ? this.#invocations.length : parent.children++}`;
    const path =
      spawnedBy !== undefined
        ? `${spawnedBy.callId}/${name}`
        : parent === undefined
          ? `run${name}`
          : `${parent.path}/${name}`;
    const mode = spawnedBy !== undefined ? 'spawn' : parent === undefined ? 'root' : 'child';
    this.#invocations.push({ path, kind, mode, status: 'open', round: 0, calls: 0, children: 0 });
    this.#add({
      type: 'invocation_start',
      by: 'runtime',
      invocationId: path,
      kind,
      name,
      mode,
      ...(branch ? { branch: true } : {}),
    });
  }

  readonly #moves: Readonly<Record<Move['kind'], (move: Move) => void>> = {
    start: ({ pick, value }) => {
      const parent = choose(this.#open(['sequence', 'step']), value);
      this.#begin(value % 3 === 0 ? undefined : parent, pick, false);
    },
    branches: ({ pick, value }) => {
      const parent = choose(this.#open(['parallel']), value);
      if (parent === undefined) return;
      for (let i = 0; i < 1 + (pick % 3); i++) this.#begin(parent, pick + i, true);
    },
    end: ({ pick, value }) => this.#end(choose(this.#open(), pick), value),
    reopen: ({ pick }) => {
      const failed = choose(
        this.#invocations.filter(({ status }) => status === 'error'),
        pick,
      );
      if (failed === undefined) return;
      failed.status = 'open';
      this.#add({
        type: 'invocation_reopen',
        by: 'operator',
        invocationId: failed.path,
        reason: 'again',
      });
    },
    yield: ({ pick, value }) => {
      const one = choose(this.#open(), pick);
      if (one === undefined) return;
      one.status = 'yielded';
      this.#add({
        type: 'invocation_yield',
        by: 'runtime',
        invocationId: one.path,
        reason: value % 2 === 0 ? 'input' : 'tool_input',
      });
    },
    resume: ({ pick }) => {
      const one = choose(
        this.#invocations.filter(({ status }) => status === 'yielded'),
        pick,
      );
      if (one === undefined) return;
      one.status = 'open';
      this.#add({ type: 'invocation_resume', by: 'runtime', invocationId: one.path });
    },
    round: ({ pick }) => this.#round(choose(this.#open(['agent']), pick)),
    call: ({ pick, value }) => {
      const agent = choose(this.#open(['agent']), pick);
      if (agent === undefined || agent.round === 0) return;
      const index = agent.calls++;
      const { round } = agent;
      const callId = `${agent.path}/r${round}.${index}`;
      this.#calls.push({
        callId,
        agent,
        attempts: 0,
        running: false,
        settled: false,
        generation: 0,
        requestId: undefined,
      });
      const args = { value };
      this.#add({
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
    attempt: ({ pick, value }) => {
      const call = choose(
        this.#calls.filter(
          ({ settled, running, requestId }) => !settled && !running && requestId === undefined,
        ),
        pick,
      );
      if (call === undefined) return;
      call.running = true;
      call.attempts++;
      const { callId, attempts: attempt, agent } = call;
      this.#add({
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
    result: ({ pick, value }) => this.#result(pick, value),
    ask: ({ pick, value }) => {
      const call = choose(
        this.#calls.filter(({ settled, requestId }) => !settled && requestId === undefined),
        pick,
      );
      if (call === undefined) return;
      const { callId, agent } = call;
      const generation = ++call.generation;
      call.requestId = `${callId}?${generation}`;
      this.#add({
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
    answer: ({ pick }) => {
      const call = choose(
        this.#calls.filter(({ requestId }) => requestId !== undefined),
        pick,
      );
      if (call?.requestId === undefined) return;
      const { callId, requestId, agent } = call;
      call.requestId = undefined;
      this.#add({
        type: 'tool_input',
        by: 'user',
        invocationId: agent.path,
        callId,
        requestId,
        decision: 'approve',
      });
    },
    state: ({ pick, value }) => {
      const scope = value % 5 === 0 ? 'user' : 'session';
      const where = choose(this.#open(), pick);
      const newValue = value % 7 === 0 ? {} : { newValue: value };
      this.#add({
        type: 'state_change',
        by: 'runtime',
        scope,
        source: 'mutation',
        changes: [{ key: `key${pick % 4}`, ...newValue }],
        ...(scope === 'user' ? { scopeId: 'u' } : {}),
        ...(where === undefined ? {} : { invocationId: where.path }),
      });
    },
    message: ({ pick, value }) => {
      const where = value % 2 === 0 ? choose(this.#open(), pick) : undefined;
      this.#add({
        type: 'user',
        by: 'user',
        text: `message ${value}`,
        ...(where === undefined ? {} : { invocationId: where.path }),
      });
    },
    spawn: ({ pick }) => {
      const call = choose(
        this.#calls.filter(({ running, agent }) => running && agent.status === 'open'),
        pick,
      );
      if (call !== undefined) this.#begin(call.agent, pick, false, call);
    },
    detach: ({ pick }) => {
      const one = choose(
        this.#open().filter(({ mode }) => mode === 'spawn'),
        pick,
      );
      if (one === undefined) return;
      const callId = one.path.slice(0, one.path.lastIndexOf('/'));
      const invocationId = callId.slice(0, callId.lastIndexOf('/'));
      this.#add({
        type: 'decision',
        by: 'tool',
        invocationId,
        component: 'spawn',
        decision: 'detach',
        reasoning: 'It may go on alone',
        data: { path: one.path },
      });
    },
    remember: ({ pick, value }) => {
      const where = choose(this.#open(), pick);
      if (where === undefined) return;
      const key = value % 3 === 0 ? {} : { key: `fact${value % 3}` };
      this.#add({
        type: 'memory',
        by: 'tool:do',
        invocationId: where.path,
        text: `fact ${value}`,
        ...key,
      });
    },
    compact: ({ pick, value }) => {
      const agent = choose(this.#open(['agent']), pick);
      if (agent === undefined) return;
      const covered = new Set(
        this.events.flatMap((event) => (event.type === 'compaction' ? event.covers : [])),
      );
      const own = this.events.filter(
        (event) =>
          event.invocationId === agent.path &&
          event.type === 'tool_result' &&
          !covered.has(event.id),
      );
      const reason = value % 2 === 0 ? 'window' : 'overflow';
      const shorter = value % 5 === 0 ? { resultLimit: 2_000 } : {};
      const covers = own.slice(0, value % 4).map(({ id }) => id);
      const told = {
        summary: `summary ${value}`,
        tokensBefore: value,
        tokensAfter: 1,
        overlap: value % 3,
      };
      this.#add({
        type: 'compaction',
        by: 'runtime',
        invocationId: agent.path,
        strategy: 'trim',
        reason,
        covers,
        ...told,
        ...shorter,
      });
    },
  };

  #end(one: OpenInvocation | undefined, value: number): void {
    if (
      one === undefined ||
      this.#invocations.some(
        ({ path, status }) => status === 'open' && path.startsWith(`${one.path}/`),
      )
    )
      return;
    one.status = value % 3 === 0 ? 'error' : 'completed';
    const error =
      one.status === 'error'
        ? { error: { name: 'Error', code: 'failed', message: 'no luck' } }
        : { output: value };
    this.#add({
      type: 'invocation_end',
      by: 'runtime',
      invocationId: one.path,
      status: one.status,
      ...error,
    });
  }

  #round(agent: OpenInvocation | undefined): void {
    if (agent === undefined || this.#calls.some((call) => call.agent === agent && !call.settled))
      return;
    agent.round++;
    agent.calls = 0;
    const { path: invocationId, round } = agent;
    const model = { agent: 'agent', round, attempt: 1, model: 'p:m', estimatedInputTokens: 1 };
    const recipe = { encoder: 1, segments: [], resultLimit: 1, settings: 's' } as const;
    this.#add({ type: 'model_start', by: 'runtime', invocationId, ...model, recipe });
    const usage = { inputTokens: 10, outputTokens: 1 };
    this.#add({
      type: 'assistant',
      by: 'model',
      invocationId,
      agent: 'agent',
      text: `round ${round}`,
      round,
    });
    this.#add({
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

  #result(pick: number, value: number): void {
    const call = choose(
      this.#calls.filter(({ running }) => running),
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
    this.#add({
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
}

function choose<T>(candidates: readonly T[], pick: number): T | undefined {
  return candidates[pick % Math.max(1, candidates.length)];
}

const move = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(1_000),
  value: fc.nat(1_000),
});

/**
 * Ledgers as the engine could have written them: invocations inside each other, branches, calls
 * with attempts, questions, state.
 */
export function arbitraryLedger({
  maxMoves = 60,
}: {
  readonly maxMoves?: number;
} = {}): fc.Arbitrary<readonly Event[]> {
  return fc.array(move, { maxLength: maxMoves, size: 'max' }).map((moves) => {
    const maker = new LedgerMaker();
    // Most moves need somebody who is at work.
    maker.make({ kind: 'start', pick: 0, value: 0 });
    maker.make({ kind: 'start', pick: 3, value: 0 });
    for (const one of moves) maker.make(one);
    return maker.events;
  });
}
