import type { Actor, Event, EventDraft } from '../../ledger/event.ts';

/** Who is given permissions, and for how long. */
export interface Grant {
  readonly permissions: readonly string[];
  readonly by: Actor;
  readonly reason?: string | undefined;
  /** The run that they are for, and with which they end. @default the session, with all its runs */
  readonly runId?: string | undefined;
}

/** The event by which permissions are given or taken back. */
export function grantDraft(
  decision: 'grant' | 'revoke',
  { permissions, by, reason, runId }: Grant,
): EventDraft {
  const names = permissions.join(', ');
  const whom = runId === undefined ? 'the session' : `the run "${runId}"`;
  const done =
    decision === 'grant' ? `${names} granted to ${whom}` : `${names} taken back from ${whom}`;
  return {
    type: 'decision',
    by,
    ...(runId === undefined ? {} : { invocationId: runId }),
    component: 'permissions',
    decision,
    reasoning: reason === undefined ? `${done}.` : `${done}: ${reason}`,
    data: { permissions },
  };
}

/** Whether an event gives permissions or takes them back, whoever worked on the session then. */
export function changesGrants(event: Event): boolean {
  return (
    event.type === 'decision' &&
    event.component === 'permissions' &&
    (event.decision === 'grant' || event.decision === 'revoke')
  );
}

/** What a ledger says that its session and one of its runs may do. */
export class Grants {
  readonly #runId: string | undefined;
  readonly #ofSession = new Set<string>();
  readonly #ofRun = new Set<string>();
  #names: readonly string[] = [];
  #seen = 0;

  constructor(runId?: string) {
    this.#runId = runId;
  }

  /**
   * What these events grant and do not take back, without what the app grants. They may only grow
   * from one call to the next.
   */
  after(events: readonly Event[]): readonly string[] {
    for (; this.#seen < events.length; this.#seen++) this.#fold(events[this.#seen] as Event);
    return this.#names;
  }

  #fold(event: Event): void {
    if (event.type !== 'decision' || !changesGrants(event)) return;
    const isOfRun = event.invocationId !== undefined;
    if (isOfRun && event.invocationId !== this.#runId) return;
    const given = event.data?.['permissions'];
    const names = Array.isArray(given) ? given.filter((name) => typeof name === 'string') : [];
    const own = isOfRun ? this.#ofRun : this.#ofSession;
    if (event.decision === 'grant') for (const name of names) own.add(name);
    // What the session may no longer do, its runs may not do either.
    else
      for (const set of isOfRun ? [this.#ofRun] : [this.#ofSession, this.#ofRun])
        takeBack(set, names);
    this.#names = [...new Set([...this.#ofSession, ...this.#ofRun])];
  }
}

/**
 * A wildcard takes back all that it covers; one name out of a wildcard that was granted cannot be
 * taken back.
 */
function takeBack(granted: Set<string>, names: readonly string[]): void {
  for (const name of names) {
    granted.delete(name);
    if (name.endsWith('*'))
      for (const other of granted) if (other.startsWith(name.slice(0, -1))) granted.delete(other);
  }
}

/** Those permissions that a ledger does not grant yet. */
export function notGranted(
  events: readonly Event[],
  permissions: readonly string[],
  runId?: string,
): readonly string[] {
  const granted = new Grants(runId).after(events);
  return permissions.filter((name) => !granted.includes(name));
}

/** What a run is granted and did not have before, as an event. */
export function runGrants(
  events: readonly Event[],
  runId: string,
  permissions: readonly string[] = [],
): EventDraft[] {
  const missing = permissions.length === 0 ? [] : notGranted(events, permissions, runId);
  return missing.length === 0
    ? []
    : [grantDraft('grant', { permissions: missing, by: 'user', runId })];
}
