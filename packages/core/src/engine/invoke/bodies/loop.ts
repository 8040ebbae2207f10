import type { JsonValue } from '../../../base/json.ts';
import type { Event } from '../../../ledger/event.ts';
import { visibleValues } from '../../../ledger/folds/state-fold.ts';
import { belongsTo } from '../../../ledger/path.ts';
import type { Loop } from '../../../runnables/loop.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { cancelledEnd, invoke, isReleased } from '../invoke.ts';
import { dataOfWhole, partInput } from '../part-input.ts';

/**
 * Runs the iterations of a loop. The loop's conditions are not checked again for iterations that
 * have begun.
 */
export async function runLoop(loop: Loop, frame: BodyFrame): Promise<BodyEnd | undefined> {
  const { run, record, scope } = frame;
  let given = dataOfWhole(frame);
  let output: JsonValue | undefined;
  for (let iteration = 0; ; iteration++) {
    const path = `${record.path}/#${iteration + 1}`;
    const isBegun = run.ledger.invocations.byPath.has(path);
    if (!isBegun && iteration >= loop.maxIterations) break;
    if (scope.aborted) return isReleased(run, scope) ? undefined : cancelledEnd(scope);
    if (!isBegun && loop.while?.({ iteration, output, state: stateOf(frame) }) === false) break;
    if (
      !isBegun &&
      loop.yields &&
      iteration > 0 &&
      !(await messageFor(frame, `${record.path}/#${iteration}`))
    ) {
      return isReleased(run, scope) ? undefined : cancelledEnd(scope);
    }
    const input = partInput(run, path, loop.runnable, given);
    const ended = await invoke(run, {
      path,
      runnable: loop.runnable,
      mode: 'child',
      ...(input instanceof Promise ? await input : input),
      scope,
      activity: frame.activity,
    });
    if (ended === undefined) return undefined;
    if (ended.status !== 'completed')
      return {
        status: ended.status === 'cancelled' ? 'cancelled' : 'error',
        error: ended.error,
        stopReason: ended.stopReason,
      };
    if (ended.output === undefined) continue;
    output = ended.output;
    given = { data: run.ledger.resolve(output) as JsonValue, from: 'sibling' };
  }
  return { status: 'completed', output };
}

/**
 * Waits for a message that no prompt of the last iteration has had. Returns true when one has come,
 * and false when the loop was stopped.
 */
async function messageFor(
  { run, record, scope, activity }: BodyFrame,
  lastIteration: string,
): Promise<boolean> {
  const { ledger } = run;
  const began = ledger.invocations.byPath.get(lastIteration)?.start.seq ?? 0;
  const seen = ledger.events.findLast(
    ({ type, invocationId, seq }) =>
      type === 'model_start' && seq > began && belongsTo(invocationId, lastIteration),
  );
  const after = seen?.seq ?? began;
  const isForLoop = (event: Event): boolean => {
    if (event.type !== 'user' || event.seq <= after) return false;
    const { invocationId } = event;
    return invocationId === undefined || invocationId === record.path || invocationId === run.runId;
  };
  if (ledger.events.slice(after).some(isForLoop)) return true;
  if (scope.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let waits = true;
  activity.judgeBy(() => (waits ? 'waiting' : activity.hasChildren ? 'idle' : 'busy'), 'input');
  const forgetDrafts = ledger.onDraft((event) => {
    if (isForLoop(event)) resolve(true);
  });
  const forgetAbort = scope.onAbort(() => resolve(false));
  activity.reportWait();
  try {
    return await promise;
  } finally {
    waits = false;
    forgetDrafts();
    forgetAbort();
  }
}

function stateOf({ run, record }: BodyFrame): Readonly<Record<string, unknown>> {
  const { state } = run.ledger;
  const shared = run.session.shared.names.map((scope) => [scope, visibleValues(state, scope)]);
  return { ...visibleValues(state, 'session', record.path), ...Object.fromEntries(shared) };
}
