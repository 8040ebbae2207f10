import { defined } from 'adjutant/text';
import { noUse } from 'adjutant/views';
import { ledgersOf, withLargeValues } from '../http/large-values.ts';
import type { ServerParts } from '../http/parts.ts';
import { patience } from '../http/patience.ts';
import type { RouteInput } from '../http/route.ts';
import { type RunView, runAtRest } from '../runs/run-view.ts';
import type { RunOutline } from '../runs/session-runs.ts';
import type { RunAnswer, RunOutlineAnswer } from '../schemas/run.ts';

/** Returns a run as lists of runs have it. */
export function outlineAnswer({
  id,
  agent,
  kind,
  lane,
  status,
  waitsFor,
  sleepsUntil,
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
    ...defined({ lane }),
    status,
    ...defined({ waitsFor, sleepsUntil }),
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
  const asked = requests as RunAnswer['requests'];
  return {
    ...outlineAnswer(outline),
    session,
    requests: asked,
    ...defined({ output }),
  };
}

type RunInput = RouteInput<{ readonly run: string }, { readonly wait: number }, unknown>;

/**
 * A run of a session as it is once it rests, or once the request has waited for as long as it
 * wanted.
 * @throws RequestRefusedError `run_not_found` (404)
 */
export async function restedRun(
  parts: ServerParts,
  input: RunInput,
  session: string,
): Promise<RunAnswer> {
  const { app, params, query } = input;
  const { signal, assertAccepted, end } = patience(parts, input, query.wait);
  try {
    const view = await runAtRest({ app, session, run: params.run, replays: parts.replays }, signal);
    assertAccepted();
    return await runAnswer(input, session, view);
  } finally {
    end();
  }
}
