import type { ListedNotice, Notice } from 'adjutant/notifications';

export interface NoticeFilter {
  /** User whose notices they are. @default the user of the key of a server */
  readonly user: string | undefined;
  readonly limit: number;
}

/** A notice as it is sent. */
export type SentNotice = Omit<Notice, 'tenant'> & {
  /** Notices before this one that are lost to the one who follows. */
  readonly missed?: number;
};

/** The notices of the app that a command works with. */
export interface NoticeAccess {
  /** Returns the notices of a user, the newest first. */
  list(filter: NoticeFilter): Promise<readonly ListedNotice[]>;
  /** Returns the notices of the user of the key, as they are sent from now on. */
  follow(signal: AbortSignal): Promise<AsyncIterable<SentNotice>>;
}
