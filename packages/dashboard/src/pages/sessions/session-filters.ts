import type { ServerSession } from '@adjutant/server/client';

type SessionStatus = ServerSession['status'];

/** Filter of the list of sessions, as its address says. */
export interface SessionFilters {
  readonly status?: SessionStatus;
  readonly agent?: string;
  readonly user?: string;
  /** Text of the messages. */
  readonly text?: string;
}

export const statusNames: readonly (readonly [SessionStatus, string])[] = [
  ['active', 'Running'],
  ['awaiting_input', 'Waits for a person'],
  ['sleeping', 'Sleeps'],
  ['completed', 'Completed'],
  ['error', 'Failed'],
];
const names = ['status', 'agent', 'user', 'text'] as const;

/** Reads the filter of an address. What it does not know is left out. */
export function filtersOf(search: string): SessionFilters {
  const params = new URLSearchParams(search);
  const status = statusNames.find(([name]) => name === params.get('status'))?.[0];
  const given = (name: string): string | undefined => params.get(name)?.trim() || undefined;
  const found = { status, agent: given('agent'), user: given('user'), text: given('text') };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Returns the address of the list with a filter. */
export function addressOf(filters: { readonly [Name in keyof SessionFilters]?: string }): string {
  const params = new URLSearchParams();
  for (const name of names) {
    const value = filters[name]?.trim();
    if (value !== undefined && value !== '') params.set(name, value);
  }
  return params.size === 0 ? '/sessions' : `/sessions?${params}`;
}

/** True when nothing is filtered. */
export function isEverything(filters: SessionFilters): boolean {
  return Object.keys(filters).length === 0;
}

/** Returns the sessions that are picked once one more is, or one less: two at most. */
export function pickedWith(picked: readonly string[], id: string): readonly string[] {
  return picked.includes(id) ? picked.filter((one) => one !== id) : [...picked.slice(-1), id];
}

interface SessionPages {
  /** The first page, which is kept new. */
  readonly head: readonly ServerSession[];
  /** There are more sessions behind it. */
  readonly hasMore: boolean;
  /** Sessions of all pages, as they were when they were read. */
  readonly read: readonly ServerSession[];
}

/** Puts the newest first page before older ones: what it has, and what it would have, is not old. */
export function mergedSessions({ head, hasMore, read }: SessionPages): readonly ServerSession[] {
  const oldest = head.at(-1);
  if (!hasMore) return head;
  // A page can be empty though others follow: the server looks at so many sessions at a time.
  if (oldest === undefined) return read;
  const known = new Set(head.map(({ id }) => id));
  return [
    ...head,
    ...read.filter(({ id, updatedAt }) => !known.has(id) && updatedAt <= oldest.updatedAt),
  ];
}
