import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { GraphJoin, RecordedGraph } from '../../ledger/decisions/routing-decisions.ts';
import type { Composed } from '../../runnables/composed.ts';
import type { OutputOf, Runnable } from '../../session/runnable.ts';

/** Nodes of a graph by their ids. */
export type GraphNodes = Readonly<Record<string, Runnable>>;

/** Circumstances in which an edge is looked at. */
export interface EdgeContext {
  /** Number of executions of the source, this one included. */
  readonly visit: number;
  /** Session state after the source. */
  readonly state: Readonly<Record<string, JsonValue>>;
}

/** Errors that an edge is for: any, those with a code or name, or those that a function accepts. */
export type EdgeError = true | string | readonly string[] | ((error: ErrorRecord) => boolean);

interface EdgeEnds<From extends string, To extends string> {
  readonly from: From;
  readonly to: To;
  /** Condition in words, for people and diagrams. */
  readonly label?: string;
  /** Makes the edge close a cycle, and says how often it may be taken in one run of the graph. */
  readonly max?: number;
}

/** Edge that is taken when its source has completed. */
export interface ValueEdge<
  From extends string = string,
  To extends string = string,
  Output = JsonValue,
> extends EdgeEnds<From, To> {
  /** Condition: a pure function of the output. @default always */
  when?(output: Output, ctx: EdgeContext): boolean;
  /** Takes the edge when no other of its source is. */
  readonly otherwise?: true;
  /** Data for the target. @default the output */
  data?(output: Output, ctx: EdgeContext): JsonValue;
  readonly error?: undefined;
}

/** Edge that is taken when its source has failed. The graph goes on then. */
export interface ErrorEdge<From extends string = string, To extends string = string>
  extends EdgeEnds<From, To> {
  readonly error: EdgeError;
  /** Takes the edge when no other of its source is. */
  readonly otherwise?: true;
  /** Data for the target. @default the name of the source and the error */
  data?(error: ErrorRecord, ctx: EdgeContext): JsonValue;
  readonly when?: undefined;
}

/** Edge between the nodes of a graph. Its functions get the output of its source, with its type. */
export type GraphEdge<Nodes extends GraphNodes = GraphNodes> = {
  [From in keyof Nodes & string]:
    | ValueEdge<From, keyof Nodes & string, OutputOf<Nodes[From]>>
    | ErrorEdge<From, keyof Nodes & string>;
}[keyof Nodes & string];

export interface GraphLimits {
  /** Nodes that work at the same time; those that wait for people do not count. @default 16 */
  readonly parallel?: number;
}

export interface GraphOptions<
  Nodes extends GraphNodes = GraphNodes,
  Output extends keyof Nodes & string = keyof Nodes & string,
  Name extends string = string,
> {
  readonly name: Name;
  readonly description?: string;
  /** Runnables by the ids that edges name. The same runnable may be several nodes. */
  readonly nodes: Nodes;
  readonly edges: readonly GraphEdge<Nodes>[];
  /** Node or nodes to begin with. They get the data of the graph. */
  readonly start: (keyof Nodes & string) | readonly (keyof Nodes & string)[];
  /**
   * Nodes that do not wait for all ways that can still come to them: `any` begins with the first, a
   * number with so many. Work that leads to nothing else is cancelled then. @default 'all'
   */
  readonly joins?: { readonly [Node in keyof Nodes & string]?: GraphJoin };
  /**
   * Node whose last output is that of the graph. @default the outputs of the ends by id, which are
   * the nodes without edges for values to others; of a single one its output
   */
  readonly output?: Output;
  readonly limits?: GraphLimits;
  /** Milliseconds after which a node is cancelled, which is a failure. @default none */
  readonly nodeTimeoutMs?: number;
  readonly version?: string;
}

/** Runnables as nodes, with edges that say what comes after what. */
export interface Graph<Output = unknown, Name extends string = string>
  extends Runnable<Output, Name>,
    Pick<Composed, 'parts'> {
  readonly kind: 'graph';
  readonly name: Name;
  readonly nodes: GraphNodes;
  readonly edges: readonly (ValueEdge | ErrorEdge)[];
  readonly output: string | undefined;
  readonly parallel: number;
  readonly nodeTimeoutMs: number | undefined;
  /** Nodes and edges as data, as its runs record them. */
  readonly shape: RecordedGraph;
}
