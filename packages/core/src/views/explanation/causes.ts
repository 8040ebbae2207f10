import type { Event, EventOf } from '../../ledger/event.ts';
import { ancestorsOf, parentOf, predecessorOf } from '../../ledger/path.ts';

/**
 * Way in which one event leads to another one.
 * - `started`: it made an invocation begin.
 * - `read`: a model was shown it.
 * - `produced`: a model or a tool made this of it.
 * - `asked`, `answered`: somebody outside was asked because of it, and answered it.
 * - `decided`: the decision is about it, or follows from it.
 * - `ended`: the invocation ended with it.
 * - `followed`: it came next in the same invocation.
 */
export type CauseKind =
  | 'started'
  | 'read'
  | 'produced'
  | 'asked'
  | 'answered'
  | 'decided'
  | 'ended'
  | 'followed';

export interface Cause {
  /** `seq` of the earlier event. */
  readonly seq: number;
  readonly kind: CauseKind;
}

/** An invocation, as far as it has been read. */
interface Invocation {
  readonly isAgent: boolean;
  last: number;
  /** Events that its next model call is shown for the first time. */
  news: number[];
  modelStart: number | undefined;
  /** The last text that its model wrote. */
  said: number | undefined;
  /** Ends of its children. */
  childEnds: number[];
}

interface Call {
  last: number;
  /** Ends of the invocations that the call made. */
  childEnds: number[];
}

/** Finds what led to each event of a ledger. Events are given in their order. */
export class Causes {
  readonly #invocations = new Map<string, Invocation>();
  readonly #calls = new Map<string, Call>();
  /** Messages that no invocation has read yet. */
  #messages: number[] = [];

  /** The causes of the next event. */
  of(event: Event): readonly Cause[] {
    const causes = this.#causesOf(event);
    this.#note(event);
    return causes;
  }

  #causesOf(event: Event): readonly Cause[] {
    switch (event.type) {
      case 'invocation_start':
        return this.#ofStart(event);
      case 'model_start':
        return this.#ofModelStart(event);
      case 'assistant':
      case 'thought':
      case 'tool_call':
      case 'model_end':
        return from('produced', this.#at(event)?.modelStart ?? this.#at(event)?.last);
      case 'tool_attempt':
      case 'tool_result':
        return this.#ofCall(event, 'produced');
      case 'tool_yield':
        return this.#ofCall(event, 'asked');
      case 'tool_input':
        return this.#ofCall(event, 'answered');
      case 'decision':
        return this.#ofDecision(event);
      case 'invocation_end':
        return this.#ofEnd(event);
      case 'user':
      case 'cancel':
        return [];
      default:
        return from('followed', this.#at(event)?.last);
    }
  }

  #at({ invocationId }: Pick<Event, 'invocationId'>): Invocation | undefined {
    return invocationId === undefined ? undefined : this.#invocations.get(invocationId);
  }

  #ofStart({ invocationId }: EventOf<'invocation_start'>): readonly Cause[] {
    const before = predecessorOf(invocationId);
    if (before !== undefined) return from('started', this.#invocations.get(before)?.last);
    for (const above of ancestorsOf(invocationId)) {
      const last = this.#calls.get(above)?.last ?? this.#invocations.get(above)?.last;
      if (last !== undefined) return from('started', last);
    }
    return from('started', ...this.#messages);
  }

  #ofModelStart(event: EventOf<'model_start'>): readonly Cause[] {
    const at = this.#at(event);
    return at === undefined || at.news.length === 0
      ? from('followed', at?.last)
      : from('read', ...at.news);
  }

  #ofCall({ callId }: { readonly callId: string }, kind: CauseKind): readonly Cause[] {
    const call = this.#calls.get(callId);
    return from(kind, call?.last, ...(kind === 'produced' ? (call?.childEnds ?? []) : []));
  }

  #ofDecision(event: EventOf<'decision'>): readonly Cause[] {
    const call = this.#calls.get(String(event.data?.['callId']));
    return from('decided', call?.last ?? this.#at(event)?.last);
  }

  #ofEnd(event: EventOf<'invocation_end'>): readonly Cause[] {
    const at = this.#at(event);
    if (at === undefined) return [];
    const isAnswer = at.isAgent && event.status === 'completed' && at.said !== undefined;
    const own = isAnswer ? at.said : at.last;
    return from('ended', own, ...(at.isAgent ? [] : at.childEnds));
  }

  #note(event: Event): void {
    const { type, seq, invocationId } = event;
    if (type === 'invocation_start') this.#begin(event);
    const at = this.#at(event);
    if (type === 'user') (at?.news ?? this.#messages).push(seq);
    else if (type === 'tool_call') this.#calls.set(event.callId, { last: seq, childEnds: [] });
    else if (type === 'invocation_end') this.#ended(event);
    const call = callOf(event);
    const known = call === undefined ? undefined : this.#calls.get(call);
    if (known !== undefined) known.last = seq;
    if (at === undefined || invocationId === undefined) return;
    at.last = seq;
    if (type === 'model_start') Object.assign(at, { modelStart: seq, news: [], said: undefined });
    else if (type === 'assistant') at.said = seq;
    else if (isNews(event)) at.news.push(seq);
  }

  #begin({ invocationId, kind, seq }: EventOf<'invocation_start'>): void {
    this.#invocations.set(invocationId, {
      isAgent: kind === 'agent',
      last: seq,
      news: [...this.#messages, seq],
      modelStart: undefined,
      said: undefined,
      childEnds: [],
    });
    this.#messages = [];
  }

  #ended({ invocationId, seq }: EventOf<'invocation_end'>): void {
    const above = parentOf(invocationId);
    const around = this.#calls.get(above) ?? this.#invocations.get(above);
    around?.childEnds.push(seq);
  }
}

/** The tool call that an event belongs to, or that a decision is about. */
function callOf(event: Event): string | undefined {
  if ('callId' in event) return event.callId;
  return event.type === 'decision' ? String(event.data?.['callId']) : undefined;
}

/** True when the next prompt of the invocation shows the event. */
function isNews(event: Event): boolean {
  return (
    (event.type === 'tool_result' && event.settled) ||
    (event.type === 'decision' && event.tell !== undefined) ||
    event.type === 'compaction'
  );
}

function from(kind: CauseKind, ...seqs: readonly (number | undefined)[]): readonly Cause[] {
  return [...new Set(seqs)].flatMap((seq) => (seq === undefined ? [] : { seq, kind }));
}
