import { isAdjutantError } from '../../base/error.ts';
import {
  findInvalidOption,
  isFlag,
  isNonEmptyText,
  type OptionChecks,
} from '../../base/options.ts';
import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { LedgerPorts } from '../../ledger/ledger.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { isServiceSession, kindOfService } from '../../ledger/port/service-sessions.ts';
import type { LedgerHead, LedgerStore, StoreAdmin } from '../../ledger/port.ts';
import { InvalidRunError } from '../frame/errors.ts';
import type { Service } from '../services/service.ts';
import { compareService } from './compare-service.ts';
import { type Comparison, compareSession, type RowDifference } from './differences.ts';
import { foldedKinds, foldSession } from './session-fold.ts';
import { readStoredSession } from './stored-session.ts';

export type { RowDifference } from './differences.ts';

export interface RebuildOptions {
  /** Only the session with this id. @default all sessions of the tenant and app */
  readonly session?: string;
  /** True to find differences and to change nothing. @default false */
  readonly dryRun?: boolean;
}

/** A session whose rows are not what follows from its ledger and its inbox. */
export interface RebuiltRows {
  readonly session: string;
  readonly differences: readonly RowDifference[];
}

export interface RebuildReport {
  /** Number of sessions that were looked at. */
  readonly sessions: number;
  /** Sessions with differences; without `dryRun` they are gone now. */
  readonly rebuilt: readonly RebuiltRows[];
  /** Sessions that a process works on: what it writes is right by itself. */
  readonly held: readonly string[];
  /** Sessions whose ledger cannot be read; their rows stay as they are. */
  readonly failed: readonly {
    readonly session: string;
    readonly error: { readonly code: string; readonly message: string };
  }[];
}

export interface RebuildParts {
  readonly tenant: string;
  readonly app: string;
  readonly ledgers: () => LedgerStore;
  readonly ledgerPorts: () => LedgerPorts;
  readonly admin: () => StoreAdmin;
  /** Services of the app, which fold the ledgers of their sessions. */
  readonly services: readonly Service[];
}

const pageSize = 100;
/** Largest number of attempts at a session to which others post meanwhile. */
const mostAttempts = 10;

const checks: OptionChecks<RebuildOptions> = { session: isNonEmptyText, dryRun: isFlag };

/**
 * Makes rows that follow from ledgers anew, session by session, while workers go on.
 * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
 */
export async function rebuildSessions(
  parts: RebuildParts,
  options: RebuildOptions,
): Promise<RebuildReport> {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined)
    throw new InvalidRunError({ refused: 'Rows cannot be rebuilt', reason: invalid.reason });
  const { dryRun = false, session: only } = options;
  const rebuilt: RebuiltRows[] = [];
  const held: string[] = [];
  const failed: RebuildReport['failed'][number][] = [];
  const ids = only === undefined ? await allSessions(parts) : [only];
  for (const session of ids) {
    const outcome = await rebuildReported(parts, session, {
      dryRun,
      mayBeGone: only === undefined,
    });
    if (outcome === 'held') held.push(session);
    else if ('code' in outcome) failed.push({ session, error: outcome });
    else if (outcome.differences.length > 0)
      rebuilt.push({ session, differences: outcome.differences });
  }
  return { sessions: ids.length, rebuilt, held, failed };
}

type Outcome =
  | 'held'
  | { readonly differences: readonly RowDifference[] }
  | { readonly code: string; readonly message: string };

/** Ledgers that cannot be read are reported, so that others go on. */
async function rebuildReported(
  parts: RebuildParts,
  session: string,
  { dryRun, mayBeGone }: { readonly dryRun: boolean; readonly mayBeGone: boolean },
): Promise<Outcome> {
  try {
    return await rebuildSession(parts, session, dryRun);
  } catch (error) {
    if (!isAdjutantError(error)) throw error;
    if (error.code === 'session_busy') return 'held';
    // Deleted since the list was read.
    if (error.code === 'session_not_found' && mayBeGone) return { differences: [] };
    if (error.code === 'session_not_found') throw error;
    // Throws when the whole store is away, and not one item of this session damaged.
    if (error.code === 'store_unavailable') await parts.ledgers().now();
    return { code: error.code, message: error.message };
  }
}

async function rebuildSession(
  parts: RebuildParts,
  session: string,
  dryRun: boolean,
): Promise<Outcome> {
  const { app, tenant } = parts;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const head = await parts.ledgers().head(session);
    if (head === undefined) throw new SessionNotFoundError({ session, app });
    const { comparison, isIdle } = await compare(parts, session, head);
    const { differences, parts: rows } = comparison;
    if (differences.length === 0 && (isIdle || dryRun)) return { differences };
    if (dryRun) {
      // Others wrote while the rows were read: the difference may be none.
      if (isSameHead(head, await parts.ledgers().head(session))) return { differences };
      continue;
    }
    const { replaced } = await parts.admin().replaceRows({ tenant, app, session }, head, rows);
    if (replaced) return { differences };
  }
  // Others write to it all the time: it is in good hands.
  return 'held';
}

async function compare(
  parts: RebuildParts,
  session: string,
  head: LedgerHead,
): Promise<{ readonly comparison: Comparison; readonly isIdle: boolean }> {
  const ledgers = parts.ledgers();
  const ledger = await openLedger(session, parts.ledgerPorts());
  const service = serviceOf(parts, session);
  if (service !== undefined) {
    const comparison = await compareService(service, ledger, parts);
    return { comparison, isIdle: true };
  }
  const inbox = await ledgers.inbox(session);
  const stored = await readStoredSession(ledgers, session, foldedKinds);
  const now = await ledgers.now();
  const comparison = compareSession(stored, foldSession(ledger, inbox, now), now);
  const hasTurn = stored.turn !== undefined;
  // A session that has ended and got nothing since is never due.
  const isOver = head.seq > 0 && /^(completed|error)$/.test(stored.listing?.status ?? '');
  return { comparison, isIdle: hasTurn || (isOver && inbox.length === 0) };
}

function isSameHead(left: LedgerHead, right: LedgerHead | undefined): boolean {
  return right?.seq === left.seq && right.epoch === left.epoch && right.inboxSeq === left.inboxSeq;
}

function serviceOf({ services }: RebuildParts, session: string): Service | undefined {
  const kind = kindOfService(session);
  return services.find((service) => service.kind === kind);
}

/** Ids of all sessions, the oldest first: turns come back in about the order that they had. */
async function allSessions(parts: RebuildParts): Promise<readonly string[]> {
  const ledgers = parts.ledgers();
  const ids: string[] = [];
  let before:
    | { readonly updatedAt: number; readonly createdAt: number; readonly id: string }
    | undefined;
  for (;;) {
    const page = await ledgers.list({
      order: 'createdAt',
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    });
    // Those of parts that the app does not have stay as they are.
    const known = (id: string): boolean =>
      !isServiceSession(id) || serviceOf(parts, id) !== undefined;
    ids.push(...page.map(({ id }) => id).filter(known));
    before = page.at(-1);
    if (page.length < pageSize) return ids.reverse();
  }
}
