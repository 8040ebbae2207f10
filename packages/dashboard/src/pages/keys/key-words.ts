import type { ServerKey } from '@adjutant/server/client';
import { age } from '../../components/format.ts';
import type { StatusName } from '../../components/status.tsx';

const dayMs = 86_400_000;
const soonMs = 7 * dayMs;

export type Role = ServerKey['roles'][number];

/** Roles, and what each may do. */
export const roleWords: readonly (readonly [Role, string])[] = [
  ['viewer', 'looks at everything'],
  ['user', 'looks, and chats; only for a key of a user'],
  ['auditor', 'looks, and reads the audit log'],
  ['operator', 'starts, answers and stops runs'],
  ['admin', 'does everything, and manages keys'],
];

/** Terms that a key can be given. */
export const terms: readonly (readonly [string, string])[] = [
  [String(dayMs), '1 day'],
  [String(7 * dayMs), '7 days'],
  [String(30 * dayMs), '30 days'],
  [String(90 * dayMs), '90 days'],
  [String(365 * dayMs), '1 year'],
  [String(3 * 365 * dayMs), '3 years'],
];
export const usualTerm = String(90 * dayMs);

/** How long the secret before a rotation is accepted, too. */
export const graces: readonly (readonly [string, string])[] = [
  ['0', 'Not at all: whoever has it is shut out at once'],
  [String(3_600_000), '1 hour'],
  [String(dayMs), '24 hours'],
  [String(7 * dayMs), '7 days'],
  [String(30 * dayMs), '30 days'],
];
export const usualGrace = String(dayMs);

/** True while a key can open anything. */
export function isAccepted({ revokedAt, expiresAt }: ServerKey, now: number): boolean {
  return revokedAt === undefined && expiresAt > now;
}

/** Returns the ring and the words for the state of a key. */
export function keyStatus(key: ServerKey, now: number): readonly [StatusName, string] {
  const { revokedAt, expiresAt } = key;
  if (revokedAt !== undefined) return ['held', `Revoked ${age(now - revokedAt)} ago`];
  if (expiresAt <= now) return ['held', `Expired ${age(now - expiresAt)} ago`];
  const left = expiresAt - now;
  return [left < soonMs ? 'waiting' : 'completed', `${age(left)} left`];
}

/** Returns what a key is bound to: a user, agents, both, or nothing. */
export function boundTo({ user, agents }: ServerKey): string {
  const parts = [
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(agents === undefined ? [] : [agents.join(', ')]),
  ];
  return parts.length === 0 ? 'the whole tenant' : parts.join(' · ');
}

/** Returns what is wrong with the fields of a new key. */
export function problemOf(asked: {
  readonly name: string;
  readonly user: string;
  readonly roles: readonly Role[];
}): string | undefined {
  if (asked.name.trim() === '') return 'Name it: for what, or for whom it is.';
  if (asked.roles.length === 0) return 'Choose a role.';
  if (asked.roles.includes('user') && asked.user.trim() === '')
    return 'The role user is for a key of one user: name the user.';
  return undefined;
}
