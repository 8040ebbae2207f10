/** Entry of a session in the session list; rewritten with every append that carries it. */
export interface SessionSummary {
  /** `sleeping`: its last run waits for an instant and for nobody. */
  readonly status: 'active' | 'awaiting_input' | 'sleeping' | 'completed' | 'error';
  /** The first user message, shortened. */
  readonly title?: string;
  /** Name of the runnable of the last run. */
  readonly runnable?: string;
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
}

export interface ListOptions {
  /** @default 100 */
  readonly limit?: number;
  /** Newest first, by the time of the last event or of the first. @default 'updatedAt' */
  readonly order?: 'updatedAt' | 'createdAt';
  /** Id of the only session to list. */
  readonly id?: string;
  readonly status?: SessionSummary['status'];
  readonly runnable?: string;
  readonly user?: string;
  /** Last listing of the page before, by the time of `order`; the list continues after it. */
  readonly before?: Pick<SessionListing, 'updatedAt' | 'createdAt' | 'id'>;
}

export interface SessionListing extends SessionSummary {
  readonly id: string;
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface DeleteOptions {
  /** True to delete the session's forks too, with all that it shares with them. @default false */
  readonly erase?: boolean;
}

/** A session with work to do that no process works on. */
export interface DueSession {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
}
