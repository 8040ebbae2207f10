import { type EventOf, isDurable, type RequestEntry, type Runtime } from 'adjutant';
import { ledgersOf } from '../http/large-values.ts';
import { RequestRefusedError } from '../http/problem.ts';
import type { Replays } from '../stream/replay/replays.ts';
import { runOf } from '../stream/run-state.ts';
import { runsOf } from './known-runs.ts';
import type { RunOutline, SessionRuns } from './session-runs.ts';

/** A run as it is now. */
export interface RunView {
  /** `undefined`: its first input waits for the process that holds the session. */
  readonly outline: RunOutline | undefined;
  /** As recorded: large values are references. Missing until it has ended. */
  readonly output?: EventOf<'invocation_end'>['output'];
  /** Open requests of the run. */
  readonly requests: readonly RequestEntry[];
  /** True when nothing more happens until a person or a process acts. */
  readonly isAtRest: boolean;
}

/** Which run of which session. */
export interface RunAddress {
  readonly app: Runtime;
  readonly session: string;
  readonly run: string;
  readonly replays: Replays;
}

/**
 * A run as it is once it has ended or waits for somebody, or as it is when the signal aborts. The
 * ledger is read once; what has come since is added to what was known of it.
 * @throws RequestRefusedError `run_not_found` (404)
 */
export async function runAtRest(address: RunAddress, signal: AbortSignal): Promise<RunView> {
  const { app, session, run, replays } = address;
  const runs = await runsOf(replays, address);
  const { seq: after } = runs;
  const view = await viewOf(address, runs);
  if (view.isAtRest || signal.aborted) return view;
  for await (const event of app.follow(session, { after, signal })) {
    if (!isDurable(event) || (event.type !== 'invocation_end' && event.type !== 'invocation_yield'))
      continue;
    const now = await runsOf(replays, address);
    if (now.find(run)?.status === 'running') continue;
    const later = await viewOf(address, now);
    if (later.isAtRest) return later;
  }
  return viewOf(address, await runsOf(replays, address));
}

async function viewOf(address: RunAddress, runs: SessionRuns): Promise<RunView> {
  const { app, session, run } = address;
  const outline = runs.find(run);
  if (outline === undefined) {
    if (!(await isPosted(address))) throw runNotFound(address);
    return { outline, requests: [], isAtRest: false };
  }
  const isOpen = outline.status === 'running' || outline.status === 'waiting';
  const pending = isOpen
    ? await app.requests.list({ session, status: 'pending', limit: mostRequests })
    : [];
  const requests = pending.filter(({ invocationId }) => runOf(invocationId) === outline.id);
  if (outline.status !== 'waiting' || (await isWaiting(address, outline, requests))) {
    return {
      outline,
      requests,
      isAtRest: outline.status !== 'running',
      ...(await outputOf(address, outline)),
    };
  }
  return {
    outline: { ...outline, status: 'running', waitsFor: undefined, sleepsUntil: undefined },
    requests,
    isAtRest: false,
  };
}

/** Returns the output of a run that has ended, which only the ledger keeps. */
async function outputOf(
  { app, session }: RunAddress,
  { endSeq }: RunOutline,
): Promise<Pick<RunView, 'output'>> {
  if (endSeq === undefined) return {};
  for await (const event of app.sessions.events(session, { after: endSeq - 1, upTo: endSeq })) {
    if (event.type === 'invocation_end' && event.output !== undefined)
      return { output: event.output };
  }
  return {};
}

/** Most requests that are shown of one run. */
const mostRequests = 1_000;

/** True when the run still waits: neither the awaited input nor a cancel has come. */
async function isWaiting(
  { app, session }: RunAddress,
  { id, lane, waitsFor }: RunOutline,
  requests: readonly RequestEntry[],
): Promise<boolean> {
  if (waitsFor === 'tool_input' && requests.length === 0) return false;
  const posted = await ledgersOf(app).inbox(session);
  return !posted.some(({ type, data }) => {
    if (data['runId'] === undefined && data['lane'] !== lane) return false;
    if (type === 'cancel') return data['runId'] === undefined || data['runId'] === id;
    return type === 'user' && waitsFor === 'input' && data['lane'] === lane;
  });
}

/** True when an input that begins a run waits for the process that holds the session. */
async function isPosted({ app, session, run }: RunAddress): Promise<boolean> {
  const posted = await ledgersOf(app).inbox(session);
  return posted.some(({ data }) => data['runId'] === run);
}

function runNotFound({ session, run }: RunAddress): RequestRefusedError {
  return new RequestRefusedError(
    404,
    'run_not_found',
    `There is no run "${run}" in session "${session}".`,
    { session, run },
  );
}
