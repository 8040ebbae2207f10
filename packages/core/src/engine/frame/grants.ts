import { type DecisionOf, decision, isDecision } from '../../ledger/decisions/decision.ts';
import { decisionFold } from '../../ledger/decisions/steering.ts';
import type { Actor, Event, EventDraft } from '../../ledger/event.ts';

/** Permissions with their giver and their duration. */
export interface Grant {
  readonly permissions: readonly string[];
  readonly by: Actor;
  readonly reason?: string | undefined;
  /**
   * Id of the run that has the permissions, which end with it.
   * @default the session, with all its runs
   */
  readonly runId?: string | undefined;
}

/** Returns the event that grants or revokes permissions. */
export function grantDraft(
  change: 'grant' | 'revoke',
  { permissions, by, reason, runId }: Grant,
): EventDraft {
  const names = permissions.join(', ');
  const whom = runId === undefined ? 'the session' : `the run "${runId}"`;
  const done =
    change === 'grant' ? `${names} granted to ${whom}` : `${names} taken back from ${whom}`;
  return decision('permissions', change, {
    by,
    invocationId: runId,
    reasoning: reason === undefined ? `${done}.` : `${done}: ${reason}`,
    data: { permissions },
  });
}

/**
 * True when an event grants or revokes permissions, independent of the process that worked on the
 * session.
 */
export function changesGrants(event: Event): boolean {
  return isDecision(event, 'permissions', 'grant', 'revoke');
}

/** Names that a ledger grants, and the run that they are looked up for. */
interface Granted {
  readonly runId: string | undefined;
  readonly ofSession: Set<string>;
  readonly ofRun: Set<string>;
}

type GrantEvent = DecisionOf<'permissions', 'grant' | 'revoke'>;

/** True for a grant of the session or of the run, and not of another run. */
function isOfInterest({ runId }: Granted, { invocationId }: GrantEvent): boolean {
  return invocationId === undefined || invocationId === runId;
}

function namesIn({ data }: GrantEvent): readonly string[] {
  const given: unknown = data?.permissions;
  return Array.isArray(given) ? given.filter((name) => typeof name === 'string') : [];
}

const steer = decisionFold<'permissions', Granted>({
  'permissions.grant': (granted, event) => {
    if (!isOfInterest(granted, event)) return;
    const own = event.invocationId === undefined ? granted.ofSession : granted.ofRun;
    for (const name of namesIn(event)) own.add(name);
  },
  'permissions.revoke': (granted, event) => {
    if (!isOfInterest(granted, event)) return;
    takeBack(granted.ofRun, namesIn(event));
    // A permission revoked from the session is revoked from its runs, too.
    if (event.invocationId === undefined) takeBack(granted.ofSession, namesIn(event));
  },
});

/** Permissions that a ledger grants to its session and to one of its runs. */
class Grants {
  readonly #granted: Granted;
  #names: readonly string[] = [];
  #seen = 0;

  constructor(runId?: string) {
    this.#granted = { runId, ofSession: new Set(), ofRun: new Set() };
  }

  /**
   * Returns the permissions that these events grant and do not revoke, without those of the app.
   * The events may only grow from one call to the next.
   */
  after(events: readonly Event[]): readonly string[] {
    for (; this.#seen < events.length; this.#seen++) this.#fold(events[this.#seen] as Event);
    return this.#names;
  }

  #fold(event: Event): void {
    if (event.type !== 'decision' || !changesGrants(event)) return;
    steer(this.#granted, event);
    this.#names = [...new Set([...this.#granted.ofSession, ...this.#granted.ofRun])];
  }
}

/**
 * Permissions of a run, among those that tools require. They are the grants of the app, the session
 * and the run itself.
 */
export class RunPermissions {
  readonly #ledger: { readonly events: readonly Event[] };
  readonly #grants: Grants;
  readonly #ofApp: readonly string[];
  #last: { readonly granted: readonly string[]; readonly all: readonly string[] } | undefined;

  constructor(
    ledger: { readonly events: readonly Event[] },
    runId: string,
    ofApp: readonly string[],
  ) {
    this.#ledger = ledger;
    this.#grants = new Grants(runId);
    this.#ofApp = ofApp;
  }

  get names(): readonly string[] {
    const granted = this.#grants.after(this.#ledger.events);
    if (this.#last?.granted !== granted)
      this.#last = { granted, all: [...new Set([...this.#ofApp, ...granted])] };
    return this.#last.all;
  }
}

/**
 * Revokes names. A wildcard revokes all that it covers. A single name inside a granted wildcard
 * cannot be revoked.
 */
function takeBack(granted: Set<string>, names: readonly string[]): void {
  for (const name of names) {
    granted.delete(name);
    if (name.endsWith('*'))
      for (const other of granted) if (other.startsWith(name.slice(0, -1))) granted.delete(other);
  }
}

/** Returns those permissions that a ledger does not grant yet. */
export function notGranted(
  events: readonly Event[],
  permissions: readonly string[],
  runId?: string,
): readonly string[] {
  const granted = new Grants(runId).after(events);
  return permissions.filter((name) => !granted.includes(name));
}

/** Returns the event that grants a run the permissions that it did not have before. */
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
