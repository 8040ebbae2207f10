import {
  AdjutantError,
  type ErrorRecord,
  isAdjutantError,
  toErrorRecord,
} from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import { describeValue } from '../../base/options.ts';
import type { EdgeContext, ErrorEdge, ValueEdge } from './definition.ts';

/** A condition or the data of an edge failed: it threw, or the condition gave no boolean. */
class EdgeFailedError extends AdjutantError {
  constructor(data: { from: string; to: string; reason: string }, options?: ErrorOptions) {
    super(
      'edge_failed',
      `The edge from "${data.from}" to "${data.to}" could not be evaluated: ${data.reason}`,
      data,
      options,
    );
  }
}

/** End of a node, as its edges see it. */
export interface NodeEnd {
  readonly output: JsonValue | undefined;
  readonly error: ErrorRecord | undefined;
}

/** Evaluates the condition of an edge. @throws EdgeFailedError */
export function holds(edge: ValueEdge | ErrorEdge, end: NodeEnd, ctx: EdgeContext): boolean {
  const held: unknown = guarded(edge, () =>
    edge.error === undefined
      ? edge.when === undefined || edge.when(end.output as JsonValue, ctx)
      : isFor(edge, end.error as ErrorRecord),
  );
  if (typeof held === 'boolean') return held;
  // A promise would be taken for true.
  const reason = `its condition must give true or false at once, not ${describeValue(held)}`;
  throw new EdgeFailedError({ from: edge.from, to: edge.to, reason });
}

/** Returns the data that an edge hands to its target. @throws EdgeFailedError */
export function dataOfEdge(
  edge: ValueEdge | ErrorEdge | undefined,
  from: string,
  end: NodeEnd,
  ctx: EdgeContext,
): JsonValue | undefined {
  if (edge?.data !== undefined)
    return guarded(edge, () =>
      edge.error === undefined
        ? edge.data?.(end.output as JsonValue, ctx)
        : edge.data?.(end.error as ErrorRecord, ctx),
    );
  if (end.error === undefined) return end.output;
  const { code, message, data } = end.error;
  return { node: from, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function isFor({ error: wanted }: ErrorEdge, error: ErrorRecord): boolean {
  if (wanted === true) return true;
  if (typeof wanted === 'function') return wanted(error);
  const names = typeof wanted === 'string' ? [wanted] : wanted;
  return names.some((name) => name === error.code || name === error.name);
}

function guarded<Value>({ from, to }: ValueEdge | ErrorEdge, evaluate: () => Value): Value {
  try {
    return evaluate();
  } catch (cause) {
    if (isAdjutantError(cause)) throw cause;
    const reason = `it threw: ${toErrorRecord(cause).message}`;
    throw new EdgeFailedError({ from, to, reason }, { cause });
  }
}
