import { contentHash } from '../../base/hash.ts';
import type { TurnPatch } from './turns.ts';

/** Beginning of the ids of sessions that the app keeps for its services. */
const prefix = 'service:';

/** Queue of the turns of services: they take no place of tasks. */
export const serviceQueue = 'service:';

/** Kind of the rows that lead from the name of a service to its newest session. */
export const serviceKind = 'service';

/** Kind of the services that send notices: one for each recipient. */
export const notifierKind = 'notifier';

/** True for the session of a service. */
export function isServiceSession(session: string): boolean {
  return session.startsWith(prefix);
}

/** Kind of the service that a session belongs to; `undefined` for a session of a caller. */
export function kindOfService(session: string): string | undefined {
  return isServiceSession(session) ? session.slice(prefix.length).split(':')[0] : undefined;
}

/** Id of the first session of a service: always the same for a kind and a name. */
export function firstSession(kind: string, name: string): string {
  return `${prefix}${kind}:${contentHash([kind, name])}`;
}

/** Id of the session that goes on where another one has rolled. */
export function nextSession(session: string): string {
  const [, base = session, number = '1'] = /^(.*?)~(\d+)$/.exec(session) ?? [];
  return `${base}~${Number(number) + 1}`;
}

/** Number of a session among those of its service, in the order of rolling. The first one is 1. */
export function sessionNumber(session: string): number {
  const [, number = '1'] = /~(\d+)$/.exec(session) ?? [];
  return Number(number);
}

/** Id of the session of a service with a number. */
export function numberedSession(kind: string, name: string, number: number): string {
  const first = firstSession(kind, name);
  return number === 1 ? first : `${first}~${number}`;
}

/** The turn of a service that has something to do; its name is the requester. */
export function serviceTurn(runnable: string, name: string): TurnPatch {
  return { queue: serviceQueue, runnable, requester: name, to: 'ready' };
}
