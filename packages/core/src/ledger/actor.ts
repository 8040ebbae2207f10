import type { Actor, ActorKind } from './event.ts';

const kinds: Readonly<Record<ActorKind, true>> = {
  user: true,
  operator: true,
  trigger: true,
  runtime: true,
  model: true,
  tool: true,
};

/**
 * The kind of an actor, which stands alone or before a name: `user`, `user:ann`. `undefined` for a
 * name without a kind.
 */
export function kindOf(text: string): ActorKind | undefined {
  const [, kind = ''] = /^([a-z]+)(?::.+)?$/s.exec(text) ?? [];
  return Object.hasOwn(kinds, kind) ? (kind as ActorKind) : undefined;
}

/**
 * The actor that a text stands for, in its full form. A name without a kind is the name of a user:
 * `ann` is `user:ann`.
 */
export function namedActor(text: string): Actor {
  return kindOf(text) === undefined ? `user:${text}` : (text as Actor);
}

/** True for an actor outside the app: a person, or a system that speaks for one. */
export function isFromOutside(by: string): boolean {
  const kind = kindOf(by);
  return kind === 'user' || kind === 'operator' || kind === 'trigger';
}

/** Checks that an actor is the one that `mayDecide` names: of the same kind, with the same name. */
export function isSaidBy(by: string, named: string): boolean {
  return by === namedActor(named);
}

/** The actors that `mayDecide` names, in their full form, for people. */
export function namesOf(mayDecide: readonly string[]): string {
  return mayDecide.map(namedActor).join(', ');
}
