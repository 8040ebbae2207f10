import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isCount } from '../../base/options.ts';
import type { Notice } from '../notice.ts';
import { BufferedStream, type NoticeStream } from './notice-stream.ts';

export interface NoticeHubOptions {
  /** Notices that wait for the reader of one stream; then the oldest are lost. @default 100 */
  readonly bufferSize?: number;
}

/**
 * The open streams of people in this process, such as those of Server-Sent Events and WebSockets.
 * It keeps nothing: a stream gets what comes while it is open.
 */
export interface NoticeHub {
  /**
   * Opens a stream. The caller has checked that it may read for this person.
   * @param options `signal` ends it, for example when the connection is closed
   */
  subscribe(
    tenant: string,
    user: string,
    options?: { readonly signal?: AbortSignal },
  ): NoticeStream;
  /**
   * Passes a notice to the open streams of its recipient.
   * @param id key of the sending; a stream takes it once
   * @returns the number of streams
   */
  publish(id: string, notice: Notice): number;
  /** Ends all streams; later ones are ended from the beginning. */
  close(): void;
}

/** @throws InvalidOptionError */
export function noticeHub(options: NoticeHubOptions = {}): NoticeHub {
  checkOptions('noticeHub', options, { bufferSize: isCount });
  const { bufferSize = 100 } = options;
  const people = new Map<string, Set<BufferedStream>>();
  let isClosed = false;
  return {
    subscribe: (tenant, user, { signal } = {}) => {
      const key = keyOf(tenant, user);
      const abort = (): void => stream.close();
      const stream = new BufferedStream(bufferSize, () => {
        signal?.removeEventListener('abort', abort);
        const left = people.get(key);
        left?.delete(stream);
        if (left?.size === 0) people.delete(key);
      });
      people.set(key, (people.get(key) ?? new Set()).add(stream));
      signal?.addEventListener('abort', abort);
      if (isClosed || signal?.aborted === true) stream.close();
      return stream;
    },
    publish: (id, notice) => {
      const streams = people.get(keyOf(notice.tenant, notice.user)) ?? new Set();
      for (const stream of streams) stream.push(id, notice);
      return streams.size;
    },
    close: () => {
      isClosed = true;
      for (const streams of [...people.values()]) for (const stream of [...streams]) stream.close();
    },
  };
}

function keyOf(tenant: string, user: string): string {
  for (const [name, value] of Object.entries({ tenant, user }))
    if (typeof value !== 'string' || value === '')
      throw new InvalidOptionError({
        function: 'noticeHub.subscribe',
        reason: `\`${name}\` must be a string that is not empty`,
      });
  return JSON.stringify([tenant, user]);
}
