export type ActorKind = 'user' | 'model' | 'tool' | 'runtime' | 'operator' | 'trigger';

/** The author of an event: a kind, followed by a colon and an id where there is one (`user:42`). */
export type Actor = ActorKind | `${ActorKind}:${string}`;

/** Members of every durable event besides its own data. */
export interface Envelope<Type extends string> {
  /** Version of this event type's data. Readers upcast older versions. */
  readonly v: number;
  /** Place in the ledger, from 1, without gaps. */
  readonly seq: number;
  readonly id: string;
  /**
   * Epoch milliseconds, for information; `seq` gives the order. Never less than that of the event
   * before it.
   */
  readonly at: number;
  readonly type: Type;
  /** Path of the invocation that the event belongs to. */
  readonly invocationId?: string;
  readonly by: Actor;
}
