import type { ActorKind } from 'adjutant';

/** Name of the actor behind a request, as ledgers record it. */
export type Actor = 'user' | 'operator' | `user:${string}` | `operator:${string}`;

/** Prefixes of the names of actors and of callers. */
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
 * True when the name of a user or a bearer begins like one with a kind. People could take it for
 * the name of another actor.
 */
export function looksLikeActor(name: string): boolean {
  const colon = name.indexOf(':');
  return colon >= 0 && Object.hasOwn(prefixes, name.slice(0, colon).trim().toLowerCase());
}

/**
 * Returns the name of an actor for people: a user by the name alone, unless that could be mistaken
 * for another actor.
 */
export function shownActor(by: string): string {
  const name = by.replace(/^user:/, '');
  return looksLikeActor(name) || Object.hasOwn(prefixes, name) ? by : name;
}

/** The prefixes that no name may begin with, for messages. */
export const actorPrefixes = Object.keys(prefixes)
  .map((prefix) => `"${prefix}:"`)
  .join(', ');
