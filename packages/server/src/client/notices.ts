import type { Notice } from 'adjutant/notifications';
import type { EventSourceMessage } from 'eventsource-parser';
import { defined } from './defined.ts';
import { type FrameReader, followFrames } from './follow.ts';
import { Listing } from './listing.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type { NewNotice, NoticeListQuery, ServerNotice } from './types.ts';

/** A notice as it is sent to the open pages of its user. */
export type FollowedNotice = Omit<Notice, 'tenant'> & {
  /** Notices before this one that the connection was too slow for; `list` has them. */
  readonly missed?: number;
};

/** Notices: messages to people. Rejects as `Sessions`. */
export class Notices {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends a notice to a user by the channels of the app, once however often the connection is lost
   * meanwhile. Resolves when it is stored.
   */
  send(notice: NewNotice, options: WriteOptions = {}): Promise<{ readonly id: string }> {
    const path = pathOf('notices');
    return this.#transport.json({ method: 'POST', path, body: notice, ...options });
  }

  /**
   * Notices of a user and what has become of each, the newest first.
   * @param query.user @default the user of the credential
   */
  list(query: NoticeListQuery = {}, options: CallOptions = {}): Listing<ServerNotice, 'notices'> {
    return new Listing('notices', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('notices'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }

  /**
   * The notices of the user of the credential, as they are sent to open pages, for as long as
   * somebody iterates. It begins with what is sent from now on. Those sent while the connection is
   * lost go to the next channel of the app; `list` has them.
   */
  follow({ signal }: CallOptions = {}): AsyncIterableIterator<FollowedNotice> {
    return followFrames(this.#transport, {
      path: pathOf('notices', 'stream'),
      reader: noticeReader,
      ...defined({ signal }),
    });
  }
}

const noticeReader: FrameReader<FollowedNotice> = {
  request: () => ({}),
  take: ({ data, event }: EventSourceMessage) =>
    event === 'notice' ? [JSON.parse(data) as FollowedNotice] : [],
};
