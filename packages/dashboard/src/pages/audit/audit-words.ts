import type { AuditEntry } from '@adjutant/server/client';
import { type NamedPage, pathOf } from '../../address/paths.ts';
import type { StatusName } from '../../components/status.tsx';

const statuses: Readonly<Record<AuditEntry['outcome'], readonly [StatusName, string]>> = {
  done: ['completed', 'Done'],
  refused: ['held', 'Refused'],
  denied: ['held', 'Denied'],
  failed: ['failed', 'Failed'],
};

/** Returns the ring and the word for an outcome. */
export function outcomeStatus(outcome: AuditEntry['outcome']): readonly [StatusName, string] {
  return statuses[outcome];
}

/** Returns what an action was about: `session customer-7`. */
export function targetOf({ target }: AuditEntry): string {
  return Object.entries(target)
    .map(([kind, name]) => `${kind} ${name}`)
    .join(', ');
}

const pages: Readonly<Record<string, NamedPage>> = {
  session: 'sessions',
  request: 'approvals',
  requestId: 'approvals',
  task: 'tasks',
  trigger: 'triggers',
  agent: 'agents',
};

/** Returns the page of a target, where there is one. */
export function pageOf(kind: string, name: string): string | undefined {
  const page = pages[kind];
  return page === undefined ? undefined : pathOf(page, name);
}
