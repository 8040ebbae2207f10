import type { Event, EventOf, JsonValue } from 'adjutant';
import type { BlockContent, Note } from './block.ts';
import {
  answeredCall,
  attemptedCall,
  begunCall,
  type CallRecord,
  failedAttempt,
  type OpenRequest,
  progressedCall,
  type SettledRequest,
  settledCall,
} from './call-record.ts';

export type ToolEvent = Extract<Event, { readonly type: `tool_${string}` }>;

/** The calls of a conversation that are not finished, with the requests about them. */
export class CallFeed {
  readonly #calls = new Map<string, CallRecord>();
  readonly #requests = new Map<string, OpenRequest>();
  #settled: readonly SettledRequest[] = [];

  get calls(): readonly CallRecord[] {
    return [...this.#calls.values()];
  }

  get requests(): readonly OpenRequest[] {
    return [...this.#requests.values()];
  }

  /** Requests with an answer, about calls of rounds that are not finished. */
  get settledRequests(): readonly SettledRequest[] {
    this.#settled = this.#settled.filter(({ request }) => this.#calls.has(request.callId));
    return this.#settled;
  }

  /** Takes in what a tool streamed. */
  progress(callId: string, data: JsonValue): void {
    this.#change(callId, (call) => progressedCall(call, data));
  }

  /** Takes the next event of a call. Returns what is finished by it. */
  take(event: ToolEvent): readonly BlockContent[] {
    switch (event.type) {
      case 'tool_call':
        this.#calls.set(event.callId, begunCall(event));
        return [];
      case 'tool_attempt':
        this.#change(event.callId, (call) => attemptedCall(call, event));
        return [];
      case 'tool_yield':
        this.#asks(event);
        return [];
      case 'tool_input':
        return this.#answered(event);
      case 'tool_result':
        return this.#result(event);
    }
  }

  /** Ends what is open, because its run is over. Returns the calls that nothing will come of. */
  end(): readonly BlockContent[] {
    const left = this.calls.map((call): BlockContent => ({ kind: 'calls', calls: [call] }));
    this.#calls.clear();
    this.#requests.clear();
    return left;
  }

  #change(callId: string, change: (call: CallRecord) => CallRecord): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#calls.set(callId, change(call));
  }

  #asks(event: EventOf<'tool_yield'>): void {
    const { requestId, callId, kind, name, args, request, seq, at, expiresAt } = event;
    const isQuestion = callId === event.invocationId && kind !== 'limit';
    const asked = { requestId, callId, isQuestion, kind, name, args, details: request, seq };
    const begunAt = this.#calls.get(callId)?.startedAt;
    this.#requests.set(requestId, { ...asked, askedAt: at, begunAt, expiresAt });
    this.#change(callId, (call) => ({ ...call, state: 'asks' }));
  }

  #answered(event: EventOf<'tool_input'>): readonly BlockContent[] {
    const { requestId, callId, decision = 'answer', by, seq } = event;
    const request = this.#requests.get(requestId);
    this.#requests.delete(requestId);
    this.#change(callId, (call) => answeredCall(call, event, request));
    if (request !== undefined && decision !== 'escalate')
      this.#settled = [...this.settledRequests, { request, decision, by }];
    if (decision !== 'escalate' || request === undefined) return [];
    const now = request.details.escalateTo?.join(', ') ?? 'others';
    return [note('attention', 'attention', `${request.details.summary}: now up to ${now}`, seq)];
  }

  #result(event: EventOf<'tool_result'>): readonly BlockContent[] {
    const { callId, name, late, settled, fallback, result, seq } = event;
    if (late === true)
      return [
        note('note', 'plain', `${name} answered late: ${result.status} (told the model)`, seq),
      ];
    if (!settled) {
      this.#change(callId, (call) => failedAttempt(call, event));
      if (fallback === undefined) return [];
      return [note('attention', 'attention', `${name} failed: ${fallback} in its place`, seq)];
    }
    for (const [id, request] of this.#requests)
      if (request.callId === callId) this.#requests.delete(id);
    this.#change(callId, (call) => settledCall(call, event));
    return this.#wholeRound(callId);
  }

  /** The calls of a round, when all of them are settled. */
  #wholeRound(callId: string): readonly BlockContent[] {
    const round = callId.slice(0, callId.lastIndexOf('.') + 1);
    const calls = this.calls.filter((call) => call.callId.startsWith(round));
    if (calls.length === 0 || calls.some(({ state }) => state !== 'settled')) return [];
    for (const call of calls) this.#calls.delete(call.callId);
    return [{ kind: 'calls', calls }];
  }
}

function note(sign: Note['sign'], tone: Note['tone'], text: string, seq: number): Note {
  return { kind: 'note', sign, tone, text, seq };
}
