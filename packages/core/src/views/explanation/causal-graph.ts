import { defined } from '../../base/defined.ts';
import type { Event } from '../../ledger/event.ts';
import type { AnySession } from '../../session/session.ts';
import { EventPlaces } from '../event-places.ts';
import { labelText } from '../mermaid.ts';
import { type CauseKind, Causes } from './causes.ts';
import { EventWords } from './event-words.ts';
import { concludingEvent, type ExplainedRunOptions, runToExplain } from './explained-run.ts';

/** An event of a run. */
export interface CausalNode {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly type: Event['type'];
  /** The event as a sentence. */
  readonly what: string;
  /** Path of the invocation. */
  readonly path?: string;
  /** Name of the agent or other runnable that ran there. */
  readonly agent?: string;
  /** True when it led to the end of the run, or to where the run is now. */
  readonly decisive: boolean;
}

/** One event that led to another one. */
export interface CausalEdge {
  /** `seq` of the cause. */
  readonly from: number;
  /** `seq` of the effect. */
  readonly to: number;
  readonly kind: CauseKind;
}

/** The events of a run, and which of them led to which. */
export interface CausalGraph {
  readonly run: string;
  readonly nodes: readonly CausalNode[];
  readonly edges: readonly CausalEdge[];
}

/**
 * Returns the events of a run with what led to each: from the message through answers of models,
 * tool calls, results and decisions to the end.
 * @throws InvalidOptionError
 */
export function causalGraph(
  source: AnySession | readonly Event[],
  options: ExplainedRunOptions = {},
): CausalGraph {
  const explained = runToExplain('causalGraph', source, options);
  const { run, events, all, resolve } = explained;
  const causes = new Causes();
  const own = new Set(events.map(({ seq }) => seq));
  const edges: CausalEdge[] = [];
  for (const event of all) {
    const found = causes.of(event);
    if (!own.has(event.seq)) continue;
    for (const { seq, kind } of found)
      if (own.has(seq)) edges.push({ from: seq, to: event.seq, kind });
  }
  const decisive = leadingTo(concludingEvent(explained)?.seq, edges);
  const words = new EventWords(all, resolve);
  const places = new EventPlaces(all);
  const nodes = events.map((event): CausalNode => {
    const { path, agent } = places.of(event);
    return {
      seq: event.seq,
      at: event.at,
      type: event.type,
      what: words.of(event),
      ...defined({ path, agent }),
      decisive: decisive.has(event.seq),
    };
  });
  return { run, nodes, edges };
}

/** Events from which a way leads to `end`. Edges come in the order of their effects. */
function leadingTo(end: number | undefined, edges: readonly CausalEdge[]): ReadonlySet<number> {
  const found = new Set(end === undefined ? [] : [end]);
  for (const { from, to } of edges.toReversed()) if (found.has(to)) found.add(from);
  return found;
}

/** A causal graph as a Mermaid flowchart; what led to the end has thick lines. */
export function causalMermaid({ nodes, edges }: CausalGraph): string {
  const decisive = new Set(nodes.flatMap(({ seq, decisive }) => (decisive ? seq : [])));
  return [
    'flowchart TB',
    ...nodes.map(
      ({ seq, what, decisive }) =>
        `  n${seq}["${seq}. ${labelText(what)}"]${decisive ? ':::decisive' : ''}`,
    ),
    ...edges.map(({ from, to, kind }) => {
      const line = decisive.has(from) && decisive.has(to) ? '==>' : '-->';
      return `  n${from} ${line}|${kind}| n${to}`;
    }),
    '  classDef decisive fill:#dcfce7,stroke:#15803d,color:#14532d',
  ].join('\n');
}
