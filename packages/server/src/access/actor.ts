import type { ActorKind } from 'adjutant';

/** Who does something through the server, as ledgers name them. */
export type Actor = 'user' | 'operator' | `user:${string}` | `operator:${string}`;

/** What stands before the names of actors and of callers. */
const prefixes: Readonly<Record<ActorKind | 'key', true>> = {
  user: true,
  operator: true,
  trigger: true,
  runtime: true,
  model: true,
  tool: true,
  key: true,
};

/**
 * Whether the name of a user or a bearer begins as if it had a kind already, so that people could
 * take it for that of somebody else.
 */
export function looksLikeActor(name: string): boolean {
  const colon = name.indexOf(':');
  return colon >= 0 && Object.hasOwn(prefixes, name.slice(0, colon).trim().toLowerCase());
}

/** An actor, for people: a user by the name alone, unless that could be taken for somebody else. */
export function shownActor(by: string): string {
  const name = by.replace(/^user:/, '');
  return looksLikeActor(name) || Object.hasOwn(prefixes, name) ? by : name;
}

/** The prefixes that no name may begin with, for messages. */
export const actorPrefixes = Object.keys(prefixes)
  .map((prefix) => `"${prefix}:"`)
  .join(', ');
