import { type ErrorRecord, toErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { BodyFrame } from '../../engine/frame/run-context.ts';
import { ScheduledChildren } from '../../engine/invoke/bodies/scheduled-children.ts';
import { inputOf } from '../../engine/invoke/input-contract.ts';
import { cancelledEnd, isReleased } from '../../engine/invoke/invoke.ts';
import { dataOfWhole, type PartInput, partInput } from '../../engine/invoke/part-input.ts';
import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { DataOf } from '../../ledger/decisions/decision-map.ts';
import type { RecordedGraph } from '../../ledger/decisions/routing-decisions.ts';
import { LedgerMismatchError, leavesOpen } from '../../ledger/errors.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { visibleValues } from '../../ledger/folds/state-fold.ts';
import type { Runnable } from '../../session/runnable.ts';
import { branchState } from '../branch-state.ts';
import type { EdgeContext, Graph } from './definition.ts';
import { dataOfEdge, holds, type NodeEnd } from './evaluate.ts';
import { type Beginning, type EdgeChoice, GraphProgress, keyOf, type Visit } from './progress.ts';
import { edgeOf } from './record.ts';
import { edgesOf, type GraphShape, type ShapedEdge, shapeOf } from './shape.ts';

type Choice = DataOf<'graph', 'edges'>;

/**
 * Runs a graph. The ends of its nodes come in the order of the ledger, so that a run that is
 * continued goes the recorded way, and only then a new one.
 */
export async function runGraph(graph: Graph, frame: BodyFrame): Promise<BodyEnd | undefined> {
  return new GraphRun(graph, frame).run();
}

/** One run of a graph in one process. */
class GraphRun {
  readonly #graph: Graph;
  readonly #frame: BodyFrame;
  readonly #children: ScheduledChildren;
  readonly #shape: GraphShape;
  readonly #progress: GraphProgress;
  /** Recorded choices and joins of earlier processes, by the key of the execution. */
  readonly #choices = new Map<string, Choice>();
  readonly #joined = new Set<string>();
  readonly #visits = new Map<string, Visit>();
  /** Last end of each node. */
  readonly #ends = new Map<string, NodeEnd & { readonly visit: number }>();
  #failure: ErrorRecord | undefined;

  constructor(graph: Graph, frame: BodyFrame) {
    this.#graph = graph;
    this.#frame = frame;
    this.#children = new ScheduledChildren(frame, { limit: graph.parallel });
    this.#shape = shapeOf(this.#recorded() ?? this.#record());
    this.#progress = new GraphProgress(this.#shape);
  }

  async run(): Promise<BodyEnd | undefined> {
    const { run, scope } = this.#frame;
    await this.#guard(() => this.#begin(this.#progress.begin()));
    for (;;) {
      const ended = await this.#children.next();
      if (ended === undefined) break;
      const visit = this.#visits.get(ended.key) as Visit;
      if (this.#failure === undefined && this.#progress.isWaitedFor(visit))
        await this.#guard(() => this.#take(visit, ended.record));
    }
    if (isReleased(run, scope)) return undefined;
    if (scope.aborted) return cancelledEnd(scope);
    if (this.#children.wasReleased) return undefined;
    return this.#failure === undefined
      ? { status: 'completed', output: this.#output() }
      : { status: 'error', error: this.#failure };
  }

  /**
   * An error of a condition fails the graph; the others are cancelled. An error that the right code
   * would not have leaves everything as it is.
   */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      if (leavesOpen(thrown)) {
        await this.#children.stop('The graph around it could not be carried on.');
        throw thrown;
      }
      await this.#stop(toErrorRecord(thrown));
    }
  }

  /** Reads what earlier processes have recorded; `undefined` when the graph begins. */
  #recorded(): RecordedGraph | undefined {
    let shape: RecordedGraph | undefined;
    for (const event of this.#frame.record.events) {
      if (isDecision(event, 'graph', 'begin'))
        shape = this.#frame.run.ledger.resolve(event.data) as RecordedGraph;
      if (isDecision(event, 'graph', 'edges') && event.data !== undefined)
        this.#choices.set(keyOf(event.data), this.#frame.run.ledger.resolve(event.data) as Choice);
      if (isDecision(event, 'graph', 'join') && event.data !== undefined)
        this.#joined.add(keyOf(event.data));
    }
    return shape;
  }

  #record(): RecordedGraph {
    const { shape, nodes, edges } = this.#graph;
    this.#frame.run.ledger.append([
      decision('graph', 'begin', {
        invocationId: this.#frame.record.path,
        reasoning: `${Object.keys(nodes).length} nodes and ${edges.length} edges.`,
        alternatives: [],
        data: shape,
      }),
    ]);
    return shape;
  }

  async #begin(beginnings: readonly Beginning[]): Promise<void> {
    for (const beginning of beginnings) {
      await this.#drop(beginning);
      const { node } = beginning;
      const key = keyOf(beginning);
      const runnable = this.#runnableOf(node);
      const input = this.#inputFor(beginning, runnable, key);
      this.#visits.set(key, beginning);
      this.#children.start({
        key,
        runnable,
        branch: true,
        timeoutMs: this.#graph.nodeTimeoutMs,
        ...(input instanceof Promise ? await input : input),
      });
    }
  }

  /** @throws LedgerMismatchError when the code no longer has a node that the ledger needs */
  #runnableOf(node: string): Runnable {
    const runnable = Object.hasOwn(this.#graph.nodes, node) ? this.#graph.nodes[node] : undefined;
    if (runnable !== undefined) return runnable;
    throw new LedgerMismatchError({
      path: this.#frame.record.path,
      recorded: `the node "${node}"`,
      found: 'no such node',
    });
  }

  /** Cancels what a join no longer waits for, when its winners are durable. */
  async #drop(beginning: Beginning): Promise<void> {
    const { node, visit, by } = beginning;
    const key = keyOf(beginning);
    const join = this.#shape.joins.get(node);
    const isOpen = join !== undefined && by.length < this.#waysTo(node);
    if (!isOpen) return;
    const cancelled = beginning.cancels.map(keyOf);
    if (!this.#joined.has(key))
      this.#frame.run.ledger.append([
        decision('graph', 'join', {
          invocationId: this.#frame.record.path,
          reasoning: `It waits for ${join} of ${this.#waysTo(node)} ways.`,
          alternatives: cancelled,
          data: { node, visit, winners: by.map(({ from }) => from), cancelled },
        }),
      ]);
    await this.#frame.run.ledger.durable();
    for (const one of cancelled)
      if (!this.#children.forget(one))
        this.#children.cancel(one, `"${node}" has what it waits for, without "${one}".`, 'left');
  }

  #waysTo(node: string): number {
    return edgesOf(this.#shape.forwardTo, node).length;
  }

  #inputFor(
    { node, by }: Beginning,
    runnable: Runnable,
    key: string,
  ): PartInput | Promise<PartInput> {
    const { run, record } = this.#frame;
    const path = `${record.path}/${key}`;
    if (by.length === 0 || run.ledger.invocations.byPath.has(path))
      return partInput(run, path, runnable, dataOfWhole(this.#frame));
    const data = this.#dataFor(node, by);
    if (data === undefined) return {};
    const input = inputOf(runnable, { data });
    return input instanceof Promise
      ? input.then((checked) => ({ input: checked, inputFrom: 'sibling' as const }))
      : { input, inputFrom: 'sibling' };
  }

  /** Data for a node: of its only way, or of all that led to it by their sources. */
  #dataFor(node: string, by: readonly ShapedEdge[]): JsonValue | undefined {
    const [edge] = by;
    if (edge !== undefined && (edge.max !== undefined || this.#waysTo(node) === 1))
      return this.#dataAlong(edge);
    return Object.fromEntries(by.map((one) => [one.from, this.#dataAlong(one) ?? null]));
  }

  #dataAlong(edge: ShapedEdge): JsonValue | undefined {
    const end = this.#ends.get(edge.from);
    if (end === undefined) return undefined;
    return dataOfEdge(edgeOf(this.#graph.edges, edge), edge.from, end, this.#contextOf(end.visit));
  }

  #contextOf(visit: number): EdgeContext {
    const { run, record } = this.#frame;
    return { visit, state: visibleValues(run.ledger.state, 'session', record.path) };
  }

  /** Takes the end of an execution: evaluates its edges, and begins what follows. */
  async #take(visit: Visit, record: InvocationRecord): Promise<void> {
    const { output, error } = record;
    const outcome = record.status === 'completed' ? 'completed' : 'error';
    const failure = error ?? { name: 'CancelledError', code: 'cancelled', message: record.status };
    this.#ends.set(visit.node, {
      visit: visit.visit,
      output: this.#frame.run.ledger.resolve(output) as JsonValue | undefined,
      error: outcome === 'error' ? failure : undefined,
    });
    const { taken, turnedDown } = this.#choiceOf(visit, record, outcome);
    if (taken.length === 0) {
      const used = turnedDown.find(({ why }) => why === 'limit');
      if (outcome === 'error') return this.#stop(failure);
      if (used !== undefined) return this.#stop(usedUp(this.#graph.name, visit.node, used.to));
    }
    const beginnings = this.#progress.ended(visit, outcome, taken);
    const { failedJoin } = this.#progress;
    if (failedJoin !== undefined) return this.#stop(tooFew(this.#graph.name, failedJoin));
    await this.#begin(beginnings);
  }

  /** Returns the edges that an execution takes: those recorded, else those that it takes now. */
  #choiceOf(
    visit: Visit,
    record: InvocationRecord,
    outcome: 'completed' | 'error',
  ): Pick<EdgeChoice, 'taken' | 'turnedDown'> {
    const recorded = this.#choices.get(keyOf(visit));
    if (recorded !== undefined) return recorded;
    const { path } = this.#frame.record;
    const { ledger } = this.#frame.run;
    const writes = outcome === 'completed' ? branchState(ledger, path, record.path) : [];
    const { node } = visit;
    const state = this.#stateAfter(record);
    const choice = this.#progress.choose(node, outcome, (edge) => this.#holds(edge, visit, state));
    const isDecided = this.#progress
      .edgesFor(node, outcome)
      .some(({ condition }) => condition !== undefined);
    if (!isDecided && writes.length === 0) return choice;
    ledger.append([
      ...writes,
      decision('graph', 'edges', {
        invocationId: path,
        reasoning: reasonOf(node, outcome, choice),
        alternatives: choice.turnedDown.map(({ to }) => to),
        data: { node, visit: visit.visit, outcome, ...choice },
      }),
    ]);
    return choice;
  }

  /** Session state with what a node has written, as it is when that has landed. */
  #stateAfter({ path, status }: InvocationRecord): EdgeContext['state'] {
    const { state } = this.#frame.run.ledger;
    return visibleValues(state, 'session', status === 'completed' ? path : this.#frame.record.path);
  }

  /** @throws LedgerMismatchError when the code has no such edge any more */
  #holds(recorded: ShapedEdge, { node, visit }: Visit, state: EdgeContext['state']): boolean {
    const edge = edgeOf(this.#graph.edges, recorded);
    if (edge === undefined)
      throw new LedgerMismatchError({
        path: this.#frame.record.path,
        recorded: `an edge from "${recorded.from}" to "${recorded.to}"`,
        found: 'no such edge',
      });
    const end = this.#ends.get(node) as NodeEnd;
    return holds(edge, end, { visit, state });
  }

  async #stop(failure: ErrorRecord): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    await this.#frame.run.ledger.durable();
    const reason = `The graph "${this.#graph.name}" failed: ${failure.message}`;
    for (const key of this.#visits.keys())
      if (!this.#children.forget(key)) this.#children.cancel(key, reason);
  }

  #output(): JsonValue | undefined {
    const { output } = this.#graph;
    const completed = (id: string) => {
      const end = this.#ends.get(id);
      return end === undefined || end.error !== undefined
        ? []
        : [[id, end.output ?? null] as const];
    };
    if (output !== undefined) return completed(output)[0]?.[1];
    const { ends } = this.#shape;
    return ends.length === 1
      ? completed(ends[0] as string)[0]?.[1]
      : Object.fromEntries(ends.flatMap(completed));
  }
}

function reasonOf(
  node: string,
  outcome: 'completed' | 'error',
  { taken, turnedDown }: EdgeChoice,
): string {
  const how = outcome === 'completed' ? 'completed' : 'failed';
  if (taken.length > 0) return `"${node}" ${how}.`;
  return turnedDown.some(({ why }) => why === 'limit')
    ? `"${node}" ${how}, and the edge of the cycle has been taken as often as it may.`
    : `"${node}" ${how}, and no condition of its edges holds.`;
}

function usedUp(graph: string, node: string, to: string): ErrorRecord {
  return {
    name: 'GraphError',
    code: 'cycle_limit',
    message:
      `The graph "${graph}" cannot go back from "${node}" to "${to}" again: the edge has been ` +
      'taken `max` times, and no other is left. Raise `max`, or add an edge with `otherwise`.',
    data: { graph, node, to },
  };
}

function tooFew(
  graph: string,
  {
    node,
    needed,
    taken,
  }: { readonly node: string; readonly needed: number; readonly taken: number },
): ErrorRecord {
  return {
    name: 'GraphError',
    code: 'too_few_joined',
    message: `"${node}" of the graph "${graph}" waits for ${needed} ways, and only ${taken} came.`,
    data: { graph, node, needed, taken },
  };
}
