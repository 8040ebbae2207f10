import { defined } from 'adjutant/text';
import { unauthenticated } from '../access/authenticate.ts';
import { ledgersOf, withLargeValues } from '../http/large-values.ts';
import type { ServerParts } from '../http/parts.ts';
import type { RouteInput } from '../http/route.ts';
import { noUse } from '../runs/model-use.ts';
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

interface Patience {
  /** Aborted when the run is not to be waited for any longer. */
  readonly signal: AbortSignal;
  /**
   * @throws RequestRefusedError `unauthenticated` (401) when the caller's credential has ended
   * meanwhile
   */
  assertAccepted(): void;
  end(): void;
}

/**
 * Ends the waiting of a request when its time is over, its client goes away, its credential ends or
 * the server closes.
 */
function patience(
  { clock, closing, access }: ServerParts,
  { request, principal }: Pick<RunInput, 'request' | 'principal'>,
  ms: number,
): Patience {
  if (ms === 0)
    return { signal: AbortSignal.abort(), assertAccepted: () => undefined, end: () => undefined };
  const over = new AbortController();
  const credential = access.ended(principal, over.signal);
  const cancel = clock.setTimer(ms, () => over.abort());
  const signals = [request.signal, closing, credential];
  const abort = (): void => over.abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) over.abort();
  const end = (): void => {
    cancel();
    for (const signal of signals) signal.removeEventListener('abort', abort);
    over.abort();
  };
  const assertAccepted = (): void => {
    if (credential.aborted) throw unauthenticated();
  };
  return { signal: over.signal, assertAccepted, end };
}
