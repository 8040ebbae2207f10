import type { AdjutantClient } from '@adjutant/server/client';
import type { ListedNotice } from 'adjutant/notifications';
import { defined } from 'adjutant/text';
import type { NoticeAccess, NoticeFilter, SentNotice } from './notice-access.ts';

/** Most notices on a page of a server. */
const mostOnPage = 500;

/** The notices of a server. */
export class ServerNoticeAccess implements NoticeAccess {
  readonly #client: () => Promise<AdjutantClient>;

  constructor(client: () => Promise<AdjutantClient>) {
    this.#client = client;
  }

  async list({ limit, user }: NoticeFilter): Promise<readonly ListedNotice[]> {
    const { notices } = await this.#client();
    const found: ListedNotice[] = [];
    const query = { limit: Math.min(limit, mostOnPage), ...defined({ user }) };
    for await (const notice of notices.list(query)) {
      found.push(notice as ListedNotice);
      if (found.length === limit) break;
    }
    return found;
  }

  async follow(signal: AbortSignal): Promise<AsyncIterable<SentNotice>> {
    return (await this.#client()).notices.follow({ signal });
  }
}
