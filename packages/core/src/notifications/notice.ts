// Types of literals, and no interfaces: these are JSON, which a state or an event can hold.

/** A link that a notice offers, for example to the page of an approval. */
export type NoticeAction = {
  readonly label: string;
  /** An address that begins with `http://` or `https://`. */
  readonly url: string;
};

/** The session, run or request that a notice refers to. */
export type NoticeReference = {
  readonly session: string;
  readonly run?: string;
  readonly request?: string;
};

/** A person who gets notices. */
export type Recipient = {
  readonly tenant: string;
  readonly user: string;
};

/** A message to one person, without the manner in which it is sent. */
export type Notice = Recipient & {
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly text: string;
  readonly actions?: readonly NoticeAction[];
  readonly about?: NoticeReference;
  /** True for a notice that is sent in quiet hours too. @default false */
  readonly urgent?: boolean;
  /** Epoch milliseconds after which it is not sent any more. @default never */
  readonly expiresAt?: number;
  /** Ids of the notices that were joined into this one. */
  readonly joins?: readonly string[];
};
