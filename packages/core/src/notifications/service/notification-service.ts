import { InvalidOptionError } from '../../base/invalid-option.ts';
import type { JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isCount,
  isFlag,
  isGroup,
  isListOfText,
  isNonEmptyText,
  isNumber,
  isText,
} from '../../base/options.ts';
import { noticeItem } from '../../engine/services/notices.ts';
import type { ServiceHost } from '../../engine/services/service.ts';
import { ServiceHistory } from '../../engine/services/service-history.ts';
import type { Event } from '../../ledger/event.ts';
import { notifierKind } from '../../ledger/port/service-sessions.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import type { NoticeAction, NoticeReference } from '../notice.ts';
import { actionsFault } from '../send-notice.ts';
import { type ListedNotices, NoticeList } from './notice-list.ts';
import type { NotifierSettings } from './notifier.ts';

/** A notice to be sent. */
export interface NoticeOptions {
  /** Id of the user who is told. */
  readonly user: string;
  /** One line. */
  readonly title: string;
  /** @default '' */
  readonly text?: string;
  readonly actions?: readonly NoticeAction[];
  /** Its subject. It is not sent when that is settled or gone by then. */
  readonly about?: NoticeReference;
  /** Names of the channels, in the order in which they are tried. @default all of the app */
  readonly channels?: readonly string[];
  /** True for a notice that is sent in quiet hours too. @default false */
  readonly urgent?: boolean;
  /** Epoch milliseconds after which it is not sent any more. @default never */
  readonly expiresAt?: number;
  /** The same id again is the same notice. @default a new one */
  readonly id?: string;
}

/** One thing that has happened to the notices of a user. */
export interface NotificationHistoryEntry {
  /** Number of the event in its session; a service that has rolled counts anew. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** `accept`, `attempt`, `send`, `fail` or `drop`. */
  readonly decision: string;
  readonly reasoning: string;
  readonly data?: JsonValue;
}

const isReference = isGroup<NoticeReference>({
  session: isNonEmptyText,
  run: isNonEmptyText,
  request: isNonEmptyText,
});

/** Characters of the longest text of a notice. */
const longestText = 10_000;

/** Notices of one tenant: `app.notifications`. */
export class NotificationService {
  readonly #host: ServiceHost;
  readonly #tenant: string;
  readonly #settings: NotifierSettings;

  constructor(host: ServiceHost, tenant: string, settings: NotifierSettings) {
    this.#host = host;
    this.#tenant = tenant;
    this.#settings = settings;
  }

  /** Names of the channels. */
  get channels(): readonly string[] {
    return this.#settings.channels.map(({ name }) => name);
  }

  /**
   * Sends a notice. Resolves when it is stored; it is sent once quiet hours and the interval of the
   * user allow it.
   * @throws InvalidOptionError, StoreUnavailableError
   */
  async send(notice: NoticeOptions): Promise<{ readonly id: string }> {
    this.#check(notice);
    const { clock, ids } = this.#host;
    await syncClock(clock, this.#host.ledgers(this.#tenant));
    const { id = ids.next(), text = '', ...rest } = notice;
    const { data, key } = noticeItem({
      ...{ ...rest, id, text, tenant: this.#tenant, at: clock.now() },
    });
    await this.#host.post(this.#tenant, { kind: notifierKind, name: notice.user, key, data });
    return { id };
  }

  /**
   * Notices of a user and what has become of each, the newest first.
   * @param query `cursor` of a page goes on behind it; `limit` is 100 by default
   * @throws InvalidOptionError, InvalidCursorError, StoreUnavailableError
   */
  async list(
    user: string,
    query: { readonly limit?: number; readonly cursor?: string | undefined } = {},
  ): Promise<ListedNotices> {
    if (isNonEmptyText(user) !== undefined) throw refusal('list', 'a user must be named');
    const invalid = findInvalidOption(query, { limit: isCount, cursor: isNonEmptyText });
    if (invalid !== undefined) throw refusal('list', invalid.reason);
    const { limit = 100, cursor } = query;
    return new NoticeList(await this.#history(user)).page(limit, cursor);
  }

  /** History of the notices of a user, the last entry first. */
  async history(
    user: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly NotificationHistoryEntry[]> {
    const { limit = 100 } = options;
    if (isNonEmptyText(user) !== undefined) throw refusal('history', 'a user must be named');
    if (isCount(limit) !== undefined) throw refusal('history', '`limit` must be a number from 1');
    return (await this.#history(user)).last(limit, entryOf);
  }

  #history(user: string): Promise<ServiceHistory> {
    return ServiceHistory.of(this.#host, this.#tenant, { kind: notifierKind, name: user });
  }

  #check(notice: NoticeOptions): void {
    const invalid = findInvalidOption(notice, {
      user: isNonEmptyText,
      title: isNonEmptyText,
      text: isText,
      actions: actionsFault,
      about: isReference,
      channels: isListOfText,
      urgent: isFlag,
      expiresAt: isNumber,
      id: isNonEmptyText,
    });
    if (invalid !== undefined) throw refusal('send', invalid.reason);
    const { about, channels, text = '', title, user } = notice;
    if (about !== undefined && about.session === undefined)
      throw refusal('send', '`about` needs the `session`');
    if (user === undefined || title === undefined)
      throw refusal('send', 'it needs `user` and `title`');
    if (text.length > longestText || title.length > longestText)
      throw refusal('send', `\`title\` and \`text\` may have ${longestText} characters`);
    const known = this.channels;
    if (channels?.length === 0)
      throw refusal('send', '`channels` names none: leave it out for all of the app');
    const unknown = channels?.find((name) => known.length > 0 && !known.includes(name));
    if (unknown !== undefined)
      throw refusal('send', `the app has no channel "${unknown}"; it has: ${known.join(', ')}`);
  }
}

function entryOf(event: Event): readonly NotificationHistoryEntry[] {
  if (event.type !== 'decision' || event.component !== 'notifier') return [];
  const { at, data, decision, reasoning, seq } = event;
  const more = data === undefined ? {} : { data: data as JsonValue };
  return [{ ...{ seq, at, decision, reasoning }, ...more }];
}

function refusal(action: string, reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: `app.notifications.${action}`, reason });
}
