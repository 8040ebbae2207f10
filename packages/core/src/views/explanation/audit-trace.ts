import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Event } from '../../ledger/event.ts';
import type { AnySession } from '../../session/session.ts';
import { causalGraph } from './causal-graph.ts';
import { EventWords, excerpt } from './event-words.ts';
import { type ExplainedRunOptions, runToExplain } from './explained-run.ts';

/** One event of a run, with its time, its reason and its causes. */
export interface AuditedEvent {
  readonly seq: number;
  /** The instant, as ISO 8601 in UTC. */
  readonly time: string;
  /** Milliseconds since the first event of the run. */
  readonly afterMs: number;
  readonly type: Event['type'];
  /** Author, such as `runtime`, `model` or `user:ann`. */
  readonly by: string;
  readonly path?: string;
  readonly agent?: string;
  /** The event as a sentence. */
  readonly what: string;
  /** Reason of the decision, with the alternatives. */
  readonly why?: string;
  readonly alternatives?: readonly string[];
  /** Full text of the message, question or value. */
  readonly detail?: JsonValue;
  /** `seq` of the events that led to it. */
  readonly causes: readonly number[];
  /** True when it led to the end of the run, or to where the run is now. */
  readonly decisive: boolean;
}

export function auditTrace(
  source: AnySession | readonly Event[],
  options: ExplainedRunOptions,
): readonly AuditedEvent[] {
  const { events, all, resolve } = runToExplain('explainTo', source, options);
  const { nodes, edges } = causalGraph(source, options);
  const words = new EventWords(all, resolve);
  const causes = new Map<number, number[]>(nodes.map(({ seq }) => [seq, []]));
  for (const { from, to } of edges) causes.get(to)?.push(from);
  const start = events[0]?.at ?? 0;
  return nodes.map(({ seq, at, type, what, path, agent, decisive }, index) => {
    const event = events[index] as Event;
    const choice = words.choice(event);
    const alternatives = choice?.alternatives.length === 0 ? undefined : choice?.alternatives;
    const detail = resolve(detailOf(event)) as JsonValue | undefined;
    return {
      seq,
      time: new Date(at).toISOString(),
      afterMs: at - start,
      type,
      by: event.by,
      ...defined({ path, agent }),
      what,
      ...defined({ why: choice?.why, alternatives, detail }),
      causes: causes.get(seq) ?? [],
      decisive,
    };
  });
}

/** Returns the texts, arguments, results and outputs of an event. */
function detailOf(event: Event): unknown {
  switch (event.type) {
    case 'user':
    case 'assistant':
    case 'thought':
      return event.text;
    case 'tool_call':
      return event.args;
    case 'tool_result':
      return event.result.content;
    case 'tool_input':
      return event.input;
    case 'state_change':
      return event.changes;
    case 'invocation_end':
      return event.output ?? event.error;
    default:
      return undefined;
  }
}

/** An audit trace as lines of plain text: one for each event, and one for each reason. */
export function auditText(trace: readonly AuditedEvent[]): string {
  return trace
    .map(({ seq, time, afterMs, what, why, causes, by }) => {
      const because = causes.length === 0 ? '' : ` because of ${causes.join(', ')}`;
      const reason = why === undefined ? '' : `\n     Why: ${excerpt(why, 1_000)}`;
      const line = `${time}  +${afterMs} ms  ${seq}. ${excerpt(what, 400)}`;
      return `${line} [by ${excerpt(by)}${because}]${reason}\n`;
    })
    .join('');
}
