import { isAdjutantError } from '../../base/error.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { InboxEntry } from '../../ledger/port.ts';
import { postResolution, type Resolution } from '../../session/answer.ts';
import type { Session } from '../../session/session.ts';
import { inFlightOn, releaseLedger } from '../frame/in-flight.ts';
import { answerOutcome } from '../run/inbox/answer-item.ts';
import { NotResolvableError, resolutionDraft } from '../run/inbox/resolution.ts';
import { isRunOpen } from '../run/root-run.ts';

/** Milliseconds between two looks at a session that another process holds. */
const lookEveryMs = 250;

/** Finding of a person about a call or an effect, with its session. */
export interface ToldOutcome {
  readonly session: string;
  readonly callId: string;
  readonly found: Resolution;
  /** Opens the session as it is stored now. @throws SessionNotFoundError */
  readonly open: () => Promise<Session>;
}

/**
 * Records the outcome of a call or an effect that was unknown. A process that holds the session
 * gets it by its inbox, and is waited for; otherwise this process records it.
 * @throws NotResolvableError when it would change nothing, also when the holder says so
 */
export async function recordOutcome(told: ToldOutcome): Promise<void> {
  let posted: string | undefined;
  for (;;) {
    const { ledger } = await told.open();
    const wasOwned = ledger.lease.claim !== undefined;
    try {
      await ledger.lease.own();
    } catch (error) {
      // Another process has written since the session was read.
      if (isAdjutantError(error, 'ledger_conflict')) continue;
      if (!isAdjutantError(error, 'session_busy')) throw error;
      posted ??= await post(ledger, told);
      if (await isTakenIn(ledger, posted)) return assertAccepted(await told.open(), posted, told);
      await nextLook(ledger);
      continue;
    }
    try {
      return await record(ledger, told, posted);
    } finally {
      if (!wasOwned && inFlightOn(ledger).runs === 0 && ledger.failure === undefined)
        await releaseLedger(ledger);
    }
  }
}

async function post(ledger: Ledger, { callId, found }: ToldOutcome): Promise<string> {
  const key = `resolve:${ledger.ports.ids.next()}`;
  await postResolution(ledger, callId, key, found);
  return key;
}

/**
 * Records it as the owner of the session. What was posted before is taken out of the inbox in the
 * same transaction.
 */
async function record(
  ledger: Ledger,
  told: ToldOutcome,
  posted: string | undefined,
): Promise<void> {
  const entry = posted === undefined ? undefined : await entryOf(ledger, posted);
  if (posted !== undefined) {
    if (entry !== undefined)
      append(ledger, answerOutcome(ledger, entry).drafts, { consumes: [entry.position] });
    await ledger.durable();
    return assertAccepted({ ledger }, posted, told);
  }
  const { callId, found } = told;
  const draft = resolutionDraft(ledger, callId, found);
  if (typeof draft === 'string') throw new NotResolvableError({ callId, reason: draft });
  append(ledger, [draft], {});
  await ledger.durable();
}

/** Appends events that may let an open run go on, which is due from then on. */
function append(ledger: Ledger, drafts: readonly EventDraft[], extras: BatchExtras): void {
  const isOpen = ledger.invocations.roots.some((root) =>
    isRunOpen(ledger, root, laneAt(ledger.invocations, root)),
  );
  ledger.append(drafts, { ...extras, ...(isOpen ? { wakeAt: ledger.ports.clock.now() } : {}) });
}

async function entryOf({ ports, session }: Ledger, key: string): Promise<InboxEntry | undefined> {
  return (await ports.store.inbox(session)).find((entry) => entry.key === key);
}

async function isTakenIn(ledger: Ledger, key: string): Promise<boolean> {
  return (await entryOf(ledger, key)) === undefined;
}

/** @throws NotResolvableError when the process that took it in has refused it */
function assertAccepted(
  { ledger }: Pick<Session, 'ledger'>,
  key: string,
  { callId }: ToldOutcome,
): void {
  const refused = ledger.events.findLast(
    (event) => isDecision(event, 'inbox', 'refuse') && event.data?.['key'] === key,
  );
  if (!isDecision(refused, 'inbox', 'refuse')) return;
  throw new NotResolvableError({ callId, reason: String(refused.data?.['reason'] ?? '') });
}

/** Waits on the clock of the machine: a test clock must not hold back another process. */
function nextLook({ ports }: Ledger): Promise<void> {
  return new Promise((resolve) => void ports.host.clock.setTimer(lookEveryMs, resolve));
}
