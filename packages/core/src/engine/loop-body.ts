import type { JsonValue } from '../base/json.ts';
import { visibleValues } from '../ledger/state-fold.ts';
import type { Loop } from '../runnables/loop.ts';
import { type BodyEnd, type BodyFrame, cancelledEnd, invoke, isGivenBack } from './invoke.ts';

/** Repeats its part; iterations that have begun are not asked about again, even if there may be fewer now. */
export async function runLoop(loop: Loop, frame: BodyFrame): Promise<BodyEnd | undefined> {
  const { run, record, scope } = frame;
  let output: JsonValue | undefined;
  for (let iteration = 0; ; iteration++) {
    const path = `${record.path}/#${iteration + 1}`;
    const isBegun = run.ledger.invocations.byPath.has(path);
    if (!isBegun && iteration >= loop.maxIterations) break;
    if (scope.aborted) return isGivenBack(run, scope) ? undefined : cancelledEnd(scope);
    if (!isBegun && loop.while?.({ iteration, output, state: stateOf(frame) }) === false) break;
    const ended = await invoke(run, { path, runnable: loop.runnable, mode: 'child', scope });
    if (ended === undefined) return undefined;
    if (ended.status !== 'completed')
      return { status: ended.status === 'cancelled' ? 'cancelled' : 'error', error: ended.error, stopReason: ended.stopReason };
    if (ended.output !== undefined) output = ended.output;
  }
  return { status: 'completed', output };
}

function stateOf({ run, record }: BodyFrame): Readonly<Record<string, unknown>> {
  const { state } = run.ledger;
  const shared = run.session.shared.names.map((scope) => [scope, visibleValues(state, scope)]);
  return { ...visibleValues(state, 'session', record.path), ...Object.fromEntries(shared) };
}
