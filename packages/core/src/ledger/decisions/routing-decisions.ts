/** Number of ways into a node that must have come before it begins. */
export type GraphJoin = 'all' | 'any' | number;

/** Shape of a graph, as recorded when it begins: its run keeps it, whatever code says later. */
export type RecordedGraph = {
  readonly start: readonly string[];
  readonly nodes: readonly {
    readonly id: string;
    readonly kind: string;
    readonly name: string;
    readonly join?: GraphJoin;
  }[];
  readonly edges: readonly RecordedEdge[];
};

export type RecordedEdge = {
  readonly from: string;
  readonly to: string;
  /** True for an edge that is taken when its source fails. */
  readonly isError?: boolean;
  /** Missing for an edge that is always taken. */
  readonly condition?: 'when' | 'otherwise';
  /** Condition, for people. */
  readonly label?: string;
  /** Number of times that an edge of a cycle may be taken. */
  readonly max?: number;
};

/** An edge that was not taken, with the reason. */
export type EdgeTurnedDown = {
  readonly to: string;
  readonly why: 'condition' | 'otherwise' | 'limit';
};

/** Decisions of routers and graphs about the way that their work takes, with their data. */
export interface RoutingDecisions {
  readonly router: {
    /** Choice of a route, and of the next one after a route has failed. */
    readonly route: {
      readonly target: string;
      /** Missing for a route that nothing chose: the fallback and the default. */
      readonly confidence?: number;
      readonly by: 'rule' | 'model' | 'fallback' | 'default' | 'failure';
      /** Number of the choice, from 1. */
      readonly attempt: number;
      /** Routes to try after this one, in order. */
      readonly next: readonly string[];
      /** Route that failed before, with the code of its error. */
      readonly after?: string;
      readonly code?: string;
    };
  };
  readonly graph: {
    readonly begin: RecordedGraph;
    /**
     * Edges of a node that has ended, evaluated once. Missing where no edge has a condition and the
     * node wrote no state.
     */
    readonly edges: {
      readonly node: string;
      /** Number of its execution, from 1. */
      readonly visit: number;
      readonly outcome: 'completed' | 'error';
      readonly taken: readonly string[];
      readonly turnedDown: readonly EdgeTurnedDown[];
    };
    /** Winners of a join that does not wait for all; the work for it alone was cancelled. */
    readonly join: {
      readonly node: string;
      readonly visit: number;
      readonly winners: readonly string[];
      readonly cancelled: readonly string[];
    };
  };
}
