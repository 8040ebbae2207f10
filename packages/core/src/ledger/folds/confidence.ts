import { isSuccess } from '../tool-result.ts';
import type { InvocationRecord, InvocationTree } from './invocation-fold.ts';
import { lastRecord } from './invocation-fold.ts';

/**
 * Returns the confidence in the output of an invocation, from 0 to 1; `undefined` when nothing
 * lowers it. It is the least of these:
 * - `confidence` of the output, when that is a number from 0 to 1;
 * - for an agent, the best confidence of its successful tool results: an answer is worth no more
 *   than what it rests on;
 * - for a sequence or a parallel, the confidence of each part; for a loop, of the last iteration.
 */
export function confidenceIn(
  record: InvocationRecord,
  tree: InvocationTree,
  resolve: (value: unknown) => unknown,
): number | undefined {
  const found = [claimedIn(resolve(record.output)), ...belowIn(record, tree, resolve)].filter(
    (confidence) => confidence !== undefined,
  );
  const least = Math.min(...found);
  return least < 1 ? least : undefined;
}

function claimedIn(output: unknown): number | undefined {
  if (typeof output !== 'object' || output === null || !Object.hasOwn(output, 'confidence'))
    return undefined;
  const { confidence } = output as { readonly confidence: unknown };
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1
    ? confidence
    : undefined;
}

function belowIn(
  record: InvocationRecord,
  tree: InvocationTree,
  resolve: (value: unknown) => unknown,
): readonly (number | undefined)[] {
  switch (record.kind) {
    case 'agent':
      return [bestOfResults(record)];
    case 'sequence':
    case 'parallel':
      return record.children.map((path) => ofChild(path, tree, resolve));
    case 'loop':
      return record.children.slice(-1).map((path) => ofChild(path, tree, resolve));
    default:
      return [];
  }
}

function ofChild(
  path: string,
  tree: InvocationTree,
  resolve: (value: unknown) => unknown,
): number | undefined {
  const child = lastRecord(tree, path);
  return child?.status === 'completed' ? confidenceIn(child, tree, resolve) : undefined;
}

/** The best confidence of the results of an agent; `undefined` when it has none. */
function bestOfResults({ events }: InvocationRecord): number | undefined {
  let best: number | undefined;
  const called = new Set<string>();
  for (const event of events) {
    if (event.type === 'tool_call') called.add(event.callId);
    else if (event.type === 'tool_result' && event.settled && called.has(event.callId)) {
      if (isSuccess(event.result)) best = Math.max(best ?? 0, event.result.confidence ?? 1);
    }
  }
  return best;
}
