import { defined } from 'adjutant/text';
import { ledgersOf, withLargeValues } from '../http/large-values.ts';
import type { RouteInput } from '../http/route.ts';
import { noUse } from '../runs/model-use.ts';
import type { RunView } from '../runs/run-view.ts';
import type { RunOutline } from '../runs/session-runs.ts';
import type { RunAnswer, RunOutlineAnswer } from '../schemas/run.ts';

/** Returns a run as lists of runs have it. */
export function outlineAnswer({
  id,
  agent,
  kind,
  status,
  waitsFor,
  error,
  stopReason,
  confidence,
  use,
  startedAt,
  endedAt,
}: RunOutline): RunOutlineAnswer {
  return {
    id,
    agent,
    kind: kind as RunOutlineAnswer['kind'],
    status,
    ...defined({ waitsFor }),
    ...(error === undefined ? {} : { error: { ...error } }),
    ...defined({ stopReason, confidence }),
    ...use,
    startedAt,
    ...defined({ endedAt }),
  };
}

/** Returns a run as the answer about it alone has it: with its requests and its output. */
export async function runAnswer(
  { app, params }: RouteInput<{ run: string }, unknown, unknown>,
  session: string,
  view: RunView,
): Promise<RunAnswer> {
  const { outline, requests, output: recorded } = view;
  if (outline === undefined)
    return { id: params.run, session, status: 'accepted', requests: [], ...noUse };
  const { output } = await withLargeValues(
    { output: recorded },
    { ledgers: ledgersOf(app), session },
  );
  const asked = requests as unknown as RunAnswer['requests'];
  return {
    ...outlineAnswer(outline),
    session,
    requests: asked,
    ...defined({ output }),
  };
}
