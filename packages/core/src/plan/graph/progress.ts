import type { EdgeTurnedDown } from '../../ledger/decisions/routing-decisions.ts';
import { closesCycle, edgesOf, type GraphShape, onlyFor, type ShapedEdge } from './shape.ts';

/** An execution of a node: the second one has the visit 2. */
export interface Visit {
  readonly node: string;
  readonly visit: number;
}

/** An execution that begins now. */
export interface Beginning extends Visit {
  /** Edges on which it was reached; none for a start of the graph. */
  readonly by: readonly ShapedEdge[];
  /** Executions that are cancelled, because this join has what it waits for. */
  readonly cancels: readonly Visit[];
}

/** A join that can no longer have what it waits for. */
export interface FailedJoin {
  readonly node: string;
  readonly needed: number;
  readonly taken: number;
}

/** Edges of a node that has ended. */
export interface EdgeChoice {
  readonly taken: readonly string[];
  readonly turnedDown: readonly EdgeTurnedDown[];
}

type NodeState = 'idle' | 'running' | 'over';

/** Key of an execution below its graph, and the last part of its path. */
export function keyOf({ node, visit }: Visit): string {
  return visit === 1 ? node : `${node}#${visit}`;
}

/**
 * Progress of one run of a graph. It is told of ends and of the edges taken, and says what begins.
 * The same ends in the same order give the same progress, in whatever process.
 */
export class GraphProgress {
  readonly #shape: GraphShape;
  readonly #nodes = new Map<string, NodeState>();
  readonly #visits = new Map<string, number>();
  /** State of edges that close no cycle; missing while their source may still take them. */
  readonly #edges = new Map<number, 'taken' | 'dead'>();
  /** Times that edges were taken, for views and limits. */
  readonly #times = new Map<number, number>();
  /** Edges of cycles that were taken and whose target has not begun again. */
  readonly #back: ShapedEdge[] = [];
  failedJoin: FailedJoin | undefined;

  constructor(shape: GraphShape) {
    this.#shape = shape;
    for (const { id } of shape.recorded.nodes) this.#nodes.set(id, 'idle');
  }

  /** Returns the executions with which the graph begins. */
  begin(): readonly Beginning[] {
    return this.#shape.recorded.start.map((node) => this.#start(node, []));
  }

  /** True for the execution of a node that is waited for: it was not dropped by a join. */
  isWaitedFor({ node, visit }: Visit): boolean {
    return this.#nodes.get(node) === 'running' && this.#visits.get(node) === visit;
  }

  visitsOf(node: string): number {
    return this.#visits.get(node) ?? 0;
  }

  timesTaken(edge: number): number {
    return this.#times.get(edge) ?? 0;
  }

  /** Edges that an outcome of a node may take. */
  edgesFor(node: string, outcome: 'completed' | 'error'): readonly ShapedEdge[] {
    return edgesOf(this.#shape.edgesFrom, node).filter(
      ({ isError = false }) => isError === (outcome === 'error'),
    );
  }

  /** True for an edge of a cycle that has been taken as often as it may. */
  isUsedUp(edge: ShapedEdge): boolean {
    return edge.max !== undefined && this.timesTaken(edge.index) >= edge.max;
  }

  /**
   * Chooses among the edges of an outcome.
   * @param holds tells if the condition of an edge holds
   */
  choose(
    node: string,
    outcome: 'completed' | 'error',
    holds: (edge: ShapedEdge) => boolean,
  ): EdgeChoice {
    const taken: string[] = [];
    const turnedDown: EdgeTurnedDown[] = [];
    const consider = (edge: ShapedEdge): void => {
      if (edge.condition === 'when' && !holds(edge))
        turnedDown.push({ to: edge.to, why: 'condition' });
      else if (this.isUsedUp(edge)) turnedDown.push({ to: edge.to, why: 'limit' });
      else taken.push(edge.to);
    };
    const edges = this.edgesFor(node, outcome);
    for (const edge of edges) if (edge.condition !== 'otherwise') consider(edge);
    const isTaken = taken.length > 0;
    for (const edge of edges) {
      if (edge.condition !== 'otherwise') continue;
      if (isTaken) turnedDown.push({ to: edge.to, why: 'otherwise' });
      else consider(edge);
    }
    return { taken, turnedDown };
  }

  /** Takes the end of an execution, and returns what begins now. */
  ended(
    { node }: Visit,
    outcome: 'completed' | 'error',
    taken: readonly string[],
  ): readonly Beginning[] {
    this.#nodes.set(node, 'over');
    const edges = this.edgesFor(node, outcome).filter(({ to }) => taken.includes(to));
    for (const { index } of edges) this.#times.set(index, this.timesTaken(index) + 1);
    const back = edges.filter(closesCycle);
    this.#back.push(...back);
    for (const edge of edgesOf(this.#shape.forwardFrom, node)) {
      if (edges.includes(edge)) this.#edges.set(edge.index, 'taken');
      // A node that will run again may still take its other edges: joins wait for them.
      else if (back.length === 0) this.#edges.set(edge.index, 'dead');
    }
    return this.#advance();
  }

  #start(node: string, by: readonly ShapedEdge[], cancels: readonly Visit[] = []): Beginning {
    const visit = this.visitsOf(node) + 1;
    this.#visits.set(node, visit);
    this.#nodes.set(node, 'running');
    return { node, visit, by, cancels };
  }

  #advance(): readonly Beginning[] {
    const begun: Beginning[] = [];
    for (;;) {
      for (const node of this.#shape.order) {
        if (this.#nodes.get(node) !== 'idle') continue;
        const beginning = this.#judge(node);
        if (beginning !== undefined) begun.push(beginning);
      }
      const again = this.#goBack();
      if (again === undefined) return begun;
      begun.push(again);
    }
  }

  /** Begins or skips an idle node, if that is decided. */
  #judge(node: string): Beginning | undefined {
    const edges = edgesOf(this.#shape.forwardTo, node);
    // A start that a cycle has made idle begins by that cycle only.
    if (edges.length === 0) return undefined;
    const by = edges.filter(({ index }) => this.#edges.get(index) === 'taken');
    const open = edges.filter(({ index }) => !this.#edges.has(index)).length;
    const needed = this.#neededBy(node);
    if (needed === undefined) {
      if (open > 0) return undefined;
      return by.length > 0 ? this.#start(node, by) : this.#skip(node);
    }
    if (by.length >= needed) return this.#start(node, by.slice(0, needed), this.#drop(node));
    if (by.length + open >= needed) return undefined;
    if (by.length > 0) this.failedJoin ??= { node, needed, taken: by.length };
    return this.#skip(node);
  }

  /** Number of taken edges with which a node begins; `undefined` when it waits for all. */
  #neededBy(node: string): number | undefined {
    const join = this.#shape.joins.get(node);
    return join === 'any' ? 1 : join;
  }

  #skip(node: string): undefined {
    this.#nodes.set(node, 'over');
    for (const { index } of edgesOf(this.#shape.forwardFrom, node)) this.#edges.set(index, 'dead');
  }

  /** Drops the work that leads to nothing but a join that begins. */
  #drop(join: string): readonly Visit[] {
    const dropped: Visit[] = [];
    const only = onlyFor(this.#shape, join);
    for (const node of only) {
      if (this.#nodes.get(node) === 'over') continue;
      if (this.#nodes.get(node) === 'running') dropped.push({ node, visit: this.visitsOf(node) });
      this.#skip(node);
    }
    const left = this.#back.filter(({ from }) => !only.has(from));
    this.#back.splice(0, this.#back.length, ...left);
    return dropped;
  }

  /**
   * Begins the next round of a cycle below whose first node nothing runs any more: of the innermost
   * one, so that the order of ends does not matter.
   */
  #goBack(): Beginning | undefined {
    if (this.#back.length === 0) return undefined;
    const target = this.#shape.order.findLast(
      (node) => this.#back.some(({ to }) => to === node) && this.#isAtRest(node),
    );
    if (target === undefined) return undefined;
    const [edge] = this.#back
      .filter(({ to }) => to === target)
      .toSorted((a, b) => a.index - b.index);
    const others = this.#back.filter(({ to }) => to !== target);
    this.#back.splice(0, this.#back.length, ...others);
    for (const node of this.#belowOf(target)) {
      this.#nodes.set(node, 'idle');
      for (const { index } of edgesOf(this.#shape.forwardFrom, node)) this.#edges.delete(index);
    }
    return this.#start(target, [edge as ShapedEdge]);
  }

  #isAtRest(target: string): boolean {
    return [...this.#belowOf(target)].every((node) => this.#nodes.get(node) !== 'running');
  }

  #belowOf(node: string): ReadonlySet<string> {
    return this.#shape.below.get(node) ?? new Set();
  }
}
