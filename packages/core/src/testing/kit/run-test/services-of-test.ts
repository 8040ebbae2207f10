import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { PublishedEvent } from '../../../ledger/decisions/service-decisions.ts';
import type { Event } from '../../../ledger/event.ts';
import {
  firstSession,
  isServiceSession,
  notifierKind,
} from '../../../ledger/port/service-sessions.ts';
import type { LedgerStore, Store } from '../../../ledger/port.ts';
import type { ListedNotice } from '../../../notifications/service/notice-list.ts';
import type { Runtime } from '../../../runtime.ts';
import type { Scene } from './scene.ts';

/** Looks for due work after one step. More are a cycle. */
const mostLooks = 100;
const pageSize = 500;

/**
 * Does something from outside of the run, and then all that is due by it. A run of the runnable
 * under test that begins is the run of the test from then on, unless one is open.
 */
export async function actOutside(scene: Scene, act: () => Promise<unknown>): Promise<void> {
  // Triggers that code declares are there after a first look.
  await workDue(scene);
  await act();
  await workDue(scene);
}

/** Does all that is due: the work of services, and the tasks that come of it. */
export async function workDue(scene: Scene): Promise<void> {
  for (let looks = 0; looks < mostLooks; looks++) {
    const runs = await scene.process.app.recovery.resumeStopped();
    for (const run of runs) await scene.adopt(run);
    await scene.settle();
    if (runs.length === 0) return;
  }
}

/** Events that a session has published. */
export function publishedBy(events: Iterable<Event>): readonly PublishedEvent[] {
  return [...events].flatMap((event) =>
    isDecision(event, 'bus', 'publish') && event.data !== undefined ? [event.data.event] : [],
  );
}

/** All notices of an app, in the order in which they came in. */
export async function noticesOf(app: Runtime, store: Store): Promise<readonly ListedNotice[]> {
  const ledgers = store.for({ tenant: app.tenant, app: app.app });
  const notices: ListedNotice[] = [];
  for (const user of await recipients(ledgers)) {
    let cursor: string | undefined;
    do {
      const page = await app.notifications.list(user, { limit: pageSize, cursor });
      notices.push(...page.notices);
      ({ cursor } = page);
    } while (cursor !== undefined);
  }
  return notices.reverse().sort((one, other) => one.at - other.at);
}

async function recipients(ledgers: LedgerStore): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const beginning = firstSession(notifierKind, '').replace(/[^:]*$/, '');
  for (const { id } of await ledgers.list({ limit: Number.MAX_SAFE_INTEGER })) {
    if (!isServiceSession(id) || !id.startsWith(beginning)) continue;
    for await (const page of ledgers.read(id))
      for (const event of page)
        if (isDecision(event, 'notifier', 'accept'))
          found.add(String(event.data?.notice['user'] ?? ''));
  }
  return found;
}
