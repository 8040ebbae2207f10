import { defined } from '../base/defined.ts';
import { type Event, type EventOf, foldEvent } from '../ledger/event.ts';
import {
  emptyInvocationTree,
  type InvocationRecord,
  type InvocationTree,
  invocationFold,
} from '../ledger/folds/invocation-fold.ts';
import { laneMember } from '../ledger/folds/lanes.ts';
import { type RunReport, runReport } from '../ledger/run-report.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { lengthOf, type Span, waitingSpans } from './run-times.ts';

/** A model call in the tree; each attempt is one. */
export interface RunTreeModelCall {
  /** Of its `model_start`. */
  readonly seq: number;
  /** `provider:model`. */
  readonly model: string;
  readonly round: number;
  readonly attempt: number;
  /** `open`: it has no end yet. */
  readonly status: EventOf<'model_end'>['status'] | 'open';
  /** Milliseconds; 0 while it is open. */
  readonly durationMs: number;
  readonly tokens: number;
  /** US dollars; `undefined` when the model's price is not known. */
  readonly cost: number | undefined;
}

export interface RunTreeToolCall {
  /** Of its `tool_call`. */
  readonly seq: number;
  readonly callId: string;
  readonly name: string;
  readonly success: boolean;
  /** Missing while it has no result. */
  readonly status: ToolResultStatus | undefined;
  /** Milliseconds over all attempts. */
  readonly durationMs: number;
  /** Milliseconds in which it waited for somebody outside. */
  readonly waitingMs: number;
  readonly attempts: number;
  /** Version of the tool that ran; missing when it has none. */
  readonly version?: string;
  /** Confidence in the result, when it was lowered. */
  readonly confidence?: number;
}

/** An invocation with what it cost and what ran below it. */
export interface RunTreeNode {
  /** Of its start. */
  readonly seq: number;
  readonly path: string;
  readonly kind: string;
  readonly name: string;
  readonly mode: string;
  readonly status: string;
  /** Lane of a root that is not in the default lane. */
  readonly lane?: string;
  /** Milliseconds from start to end, or to the last event of the ledger while it is open. */
  readonly durationMs: number;
  /** Milliseconds in which it waited for somebody outside, or in which nobody worked on it. */
  readonly waitingMs: number;
  /** Milliseconds in which it neither waited nor had anything running below it. */
  readonly selfMs: number;
  /** Tokens of its own model calls and of all below it. */
  readonly tokens: number;
  /** Tokens of its own model calls. */
  readonly selfTokens: number;
  /** US dollars, like `tokens`; `undefined` when no price is known. */
  readonly cost: number | undefined;
  /** US dollars of its own model calls. */
  readonly selfCost: number | undefined;
  readonly modelCalls: readonly RunTreeModelCall[];
  /** Names and outcomes of its own tool calls. */
  readonly toolCalls: readonly RunTreeToolCall[];
  readonly children: readonly RunTreeNode[];
}

/** The invocations of a ledger as trees, one for each run. */
export function runTree(events: readonly Event[]): readonly RunTreeNode[] {
  return new TreeBuilder(events).roots();
}

class TreeBuilder {
  readonly #events: readonly Event[];
  readonly #tree: InvocationTree = emptyInvocationTree();
  readonly #lastAt: number;

  constructor(events: readonly Event[]) {
    this.#events = events;
    this.#lastAt = events.at(-1)?.at ?? 0;
    for (const event of events) foldEvent(invocationFold, this.#tree, event);
  }

  roots(): readonly RunTreeNode[] {
    return this.#nodes(this.#tree.roots);
  }

  #nodes(paths: readonly string[]): readonly RunTreeNode[] {
    return paths.flatMap((path) => {
      const record = this.#tree.byPath.get(path);
      return record === undefined ? [] : [this.#node(record)];
    });
  }

  #node(record: InvocationRecord): RunTreeNode {
    const { path, kind, name, mode, status, start } = record;
    const own = runReport(record.events, path);
    const children = this.#nodes(record.children);
    const selfTokens = own.usage.inputTokens + own.usage.outputTokens;
    return {
      ...{ seq: start.seq, path, kind, name, mode, status, ...laneMember(start.lane) },
      ...this.#times(record),
      tokens: children.reduce((sum, child) => sum + child.tokens, selfTokens),
      selfTokens,
      cost: children.reduce(
        (sum, child) => (child.cost === undefined ? sum : (sum ?? 0) + child.cost),
        own.cost,
      ),
      selfCost: own.cost,
      modelCalls: modelCalls(record.events),
      toolCalls: this.#toolCalls(record.events, own),
      children,
    };
  }

  #span({ start, end }: InvocationRecord): Span {
    return { from: start.at, to: end?.at ?? this.#lastAt };
  }

  #times(record: InvocationRecord): Pick<RunTreeNode, 'durationMs' | 'waitingMs' | 'selfMs'> {
    const whole = this.#span(record);
    const waiting = waitingSpans(record.events, this.#events, this.#lastAt);
    const below = record.children.flatMap((path) => {
      const child = this.#tree.byPath.get(path);
      return child === undefined ? [] : [this.#span(child)];
    });
    const durationMs = whole.to - whole.from;
    return {
      durationMs,
      waitingMs: lengthOf(waiting, whole),
      selfMs: durationMs - lengthOf([...waiting, ...below], whole),
    };
  }

  #toolCalls(events: readonly Event[], { toolCalls }: RunReport): readonly RunTreeToolCall[] {
    const places = new Map<string, number>();
    const asked = new Map<string, Event[]>();
    for (const event of events)
      if (event.type === 'tool_call') places.set(event.callId, event.seq);
      else if (event.type === 'tool_yield' || event.type === 'tool_input')
        asked.set(event.callId, [...(asked.get(event.callId) ?? []), event]);
    return toolCalls.map(({ callId, name, success, resultStatus, durationMs, attempts, ...of }) => {
      const ofCall = asked.get(callId) ?? [];
      const waitingMs = lengthOf(waitingSpans(ofCall, this.#events, this.#lastAt));
      return {
        seq: places.get(callId) ?? 0,
        callId,
        name,
        success,
        status: resultStatus,
        durationMs,
        waitingMs,
        attempts,
        ...defined({ version: of.version, confidence: of.confidence }),
      };
    });
  }
}

function modelCalls(events: readonly Event[]): readonly RunTreeModelCall[] {
  const ends = new Map<string, EventOf<'model_end'>>();
  for (const event of events)
    if (event.type === 'model_end') ends.set(`${event.round}.${event.attempt}`, event);
  return events.flatMap((event): RunTreeModelCall[] => {
    if (event.type !== 'model_start') return [];
    const { seq, model, round, attempt } = event;
    const end = ends.get(`${round}.${attempt}`);
    const tokens = end === undefined ? 0 : end.usage.inputTokens + end.usage.outputTokens;
    return [
      {
        seq,
        model,
        round,
        attempt,
        status: end?.status ?? 'open',
        durationMs: end?.durationMs ?? 0,
        tokens,
        cost: end?.cost,
      },
    ];
  });
}
