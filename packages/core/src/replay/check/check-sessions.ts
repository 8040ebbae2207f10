import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import { isCount, isFlag, isListOfText, type OptionChecks } from '../../base/options.ts';
import { AgentTools } from '../../engine/agent/tool-lookup.ts';
import { isWait } from '../../engine/frame/invocation.ts';
import type { AnyRunnable, Registry } from '../../engine/frame/registry.ts';
import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import { rootOf } from '../../ledger/path.ts';
import type { Runtime } from '../../runtime.ts';
import type { Session } from '../../session/session.ts';
import type { Tool } from '../../tools/tool.ts';
import { recordedLedgerOf } from '../recorded-ledger.ts';
import { checkApp } from '../replay.ts';
import { registryOf } from '../replaying-runtime.ts';
import { dryResume, type Outcome } from './dry-resume.ts';
import type { CheckOptions, CheckReport, SessionCheck } from './session-check.ts';

const checks: OptionChecks<CheckOptions> = {
  runSteps: isFlag,
  sessions: isListOfText,
  patienceMs: isCount,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
};

const defaultPatienceMs = 2_000;
const openStatuses = ['active', 'awaiting_input', 'sleeping'] as const;

/**
 * Holds today's code against the open runs of a store before it is deployed: those that wait, and
 * those that were stopped. Each is continued in a copy in memory, up to the first thing that it
 * would do anew. No lease is taken, no model is asked, no tool is called and nothing is written.
 * Hooks, renderers and other code that waits for nothing runs for real, and so do steps that
 * declare `effects: false`, and tools with `recovery: 'rerun'` that have called others.
 * @param app the app with today's code and the store; only its own tenant is checked
 * @throws InvalidOptionError; rejects with SessionNotFoundError, and with the reason when `signal`
 * is aborted
 */
export async function checkSessions(
  app: Runtime,
  options: CheckOptions = {},
): Promise<CheckReport> {
  checkOptions('checkSessions', options, checks);
  checkApp('checkSessions', app);
  const registry = registryOf(app);
  const sessions: SessionCheck[] = [];
  for (const id of new Set(options.sessions ?? (await openSessions(app)))) {
    options.signal?.throwIfAborted();
    const session = await readable(id, app);
    if ('verdict' in session) {
      sessions.push(session);
      continue;
    }
    if (session.events.length === 0) throw new SessionNotFoundError({ session: id, app: app.app });
    sessions.push(...(await checkSession(session, app, options)));
  }
  const runnables = registry.names.map((name) => registry.get(name));
  return {
    sessions,
    undeclaredTools: runnables.flatMap(undeclaredToolsOf),
    undeclaredSteps: runnables.filter(isUndeclared).map(({ name }) => name),
  };
}

const unreadable = ['ledger_unreadable', 'segment_key_missing', 'seal_broken'] as const;

/** Opens a session, or tells why it cannot be read: the others are checked all the same. */
async function readable(id: string, app: Runtime): Promise<Session | SessionCheck> {
  try {
    return await app.sessions.open({ id, observe: false });
  } catch (error) {
    if (!isAdjutantError(error) || !unreadable.some((code) => code === error.code)) throw error;
    const { code, message: reason } = error;
    const of = { session: id, tenant: app.tenant, runnable: undefined, runId: undefined };
    return { ...of, verdict: 'refused', code, reason };
  }
}

/** Returns the ids of the sessions with an open run, those with the newest events first. */
async function openSessions(app: Runtime): Promise<readonly string[]> {
  const found: string[] = [];
  for (const status of openStatuses) {
    let cursor: string | undefined;
    do {
      const page = await app.sessions.list({
        status,
        ...defined({ cursor }),
      });
      found.push(...page.sessions.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
  }
  return found;
}

async function checkSession(
  session: Session,
  app: Runtime,
  options: CheckOptions,
): Promise<readonly SessionCheck[]> {
  const { invocations } = session.ledger;
  const open = [...invocations.byPath.values()].filter(
    ({ status }) => status === 'open' || status === 'yielded',
  );
  const lanes = new Map<string, InvocationRecord[]>();
  for (const record of open) {
    const lane = laneAt(invocations, record.path);
    lanes.set(lane, [...(lanes.get(lane) ?? []), record]);
  }
  const found: SessionCheck[] = [];
  for (const [lane, records] of lanes)
    found.push(await checkLane({ session, lane }, records, app, options));
  return found;
}

async function checkLane(
  { session, lane }: { readonly session: Session; readonly lane: string },
  open: readonly InvocationRecord[],
  app: Runtime,
  { runSteps = false, patienceMs = defaultPatienceMs, signal }: CheckOptions,
): Promise<SessionCheck> {
  const first = open[0] as InvocationRecord;
  const registry = registryOf(app);
  const outcome =
    refusalOf(open, registry) ??
    lostCall(session, lane, app) ??
    notRun(open, registry, runSteps) ??
    (await dryResume(recordedLedgerOf(session), app, { lane, patienceMs, signal }));
  const { tenant } = app;
  return {
    session: session.id,
    tenant,
    runnable: first.name,
    runId: rootOf(first.path),
    ...outcome,
  };
}

/** Finds a runnable that is gone or of another kind, without running anything. */
function refusalOf(open: readonly InvocationRecord[], registry: Registry): Outcome | undefined {
  // Questions and sleeps are named by their keys, and belong to the code of their steps.
  for (const { name, kind, parent, mode, path } of open.filter((record) => !isWait(record))) {
    const isNamed = parent === undefined || mode === 'dispatch' || mode === 'spawn';
    if (!registry.has(name)) {
      if (!isNamed) continue;
      const reason = `${path} is a run of "${name}", and the app has no runnable of that name`;
      return { verdict: 'refused', code: 'unknown_runnable', reason };
    }
    const now = registry.get(name).kind;
    if (now === kind) continue;
    const reason = `${path} was started as a ${kind}, and "${name}" is a ${now} now`;
    return { verdict: 'refused', code: 'ledger_mismatch', reason };
  }
  return undefined;
}

/** Finds a call that waits for an answer although its tool is gone. */
function lostCall({ ledger }: Session, lane: string, app: Runtime): Outcome | undefined {
  const registry = registryOf(app);
  for (const { invocationId = '', callId, name, kind } of ledger.requests.values()) {
    if (laneAt(ledger.invocations, invocationId) !== lane) continue;
    const agent = ledger.invocations.byPath.get(invocationId)?.name ?? '';
    const runnable = registry.has(agent) ? registry.get(agent) : undefined;
    if (kind === 'limit' || runnable?.kind !== 'agent') continue;
    if (new AgentTools(runnable, app.tools).find(name) !== undefined) continue;
    const reason = `the call ${callId} waits for an answer, and "${agent}" has no tool "${name}"`;
    return { verdict: 'refused', code: 'ledger_mismatch', reason };
  }
  return undefined;
}

/** Tells which step keeps a run from being tried. */
function notRun(
  open: readonly InvocationRecord[],
  registry: Registry,
  runSteps: boolean,
): Outcome | undefined {
  if (runSteps) return undefined;
  const step = open.find(
    ({ kind, name }) =>
      kind === 'step' && (!registry.has(name) || isUndeclared(registry.get(name))),
  );
  if (step === undefined) return undefined;
  const reason =
    `the step "${step.name}" would run again, and does not say \`effects: false\`: ` +
    'it was not tried';
  return { verdict: 'unknown', reason };
}

function isUndeclared(runnable: AnyRunnable): boolean {
  return runnable.kind === 'step' && runnable.effects !== false;
}

function undeclaredToolsOf(runnable: AnyRunnable): readonly string[] {
  if (runnable.kind !== 'agent') return [];
  return runnable.tools.filter(isUndeclaredTool).map(({ name }) => `${runnable.name}/${name}`);
}

/** True for a tool that says nothing of recovery: the model is told what a crash cut off. */
function isUndeclaredTool({ recovery, onRepeat, destructive }: Tool): boolean {
  return recovery === 'report' && onRepeat === 'allow' && !destructive;
}
