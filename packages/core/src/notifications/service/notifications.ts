import { InvalidOptionError } from '../../base/invalid-option.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isFlag,
  isNotNegative,
  isObject,
} from '../../base/options.ts';
import { type RetryOptions, retryChecks } from '../../base/retry-options.ts';
import type { RequestNews, ServiceHost, ServicePart } from '../../engine/services/service.ts';
import { taskKind } from '../../ledger/folds/task.ts';
import { notifierKind } from '../../ledger/port/service-sessions.ts';
import type { Channel } from '../channel.ts';
import { isQuiet, type QuietHours } from '../delivery/quiet-hours.ts';
import type { Recipient } from '../notice.ts';
import { foldNotifier } from './fold-notifier.ts';
import { NotificationService } from './notification-service.ts';
import { Notifier, type NotifierSettings } from './notifier.ts';
import { notifierState } from './notifier-state.ts';

/** Options of `notifications`. */
export interface NotificationsOptions {
  /** Channels in the order in which they are tried, such as `emailChannel` and `webhookChannel`. */
  readonly channels: readonly Channel[];
  /**
   * Hours in which only what is urgent is sent, of all users or of each. While a function throws,
   * only what is urgent is sent.
   * @default none
   */
  readonly quietHours?: QuietHours | ((recipient: Recipient) => QuietHours | undefined);
  /**
   * Least milliseconds between two sendings to one user; what comes meanwhile is joined.
   * @default 30_000
   */
  readonly intervalMs?: number;
  /** Attempts within one channel. @default 3 attempts, 5_000 ms and 20_000 ms apart */
  readonly retry?: RetryOptions;
  /**
   * True to tell users of the requests of their tasks and sessions, with a link if `approvals` has
   * an address.
   * @default false
   */
  readonly requests?: boolean;
}

/**
 * Makes the option `notifications` of a runtime: notices to people by the channels, once, joined
 * and in time. Notices that wait survive restarts; failures are in the history of the user.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { memoryStore, runtime } from 'adjutant';
 * import { consoleChannel, notifications } from 'adjutant/notifications';
 *
 * const app = runtime({
 *   app: 'desk',
 *   store: memoryStore(),
 *   notifications: notifications({ channels: [consoleChannel()] }),
 * });
 * await app.notifications.send({ user: 'ann', title: 'The report is ready' });
 * await app.recovery.resumeStopped();
 * await app.close();
 * ```
 */
export function notifications(options: NotificationsOptions): ServicePart<NotificationService> {
  const settings = checked(options);
  return Object.freeze({
    kind: notifierKind,
    attach: (host) => ({
      service: {
        kind: notifierKind,
        names: () => [notifierKind],
        advance: (session) => new Notifier(session, settings, host).advance(),
        rolled: (session) => JSON.parse(JSON.stringify(notifierState(session.events()))),
        rowKinds: [],
        fold: foldNotifier,
      },
      channels: settings.channels.map(({ name }) => name),
      of: (tenant) => new NotificationService(host, tenant, settings),
      ...(options.requests === true ? { onRequest: (news) => tellRequest(host, news) } : {}),
    }),
  } satisfies ServicePart<NotificationService>);
}

/** Sends a notice of a request to the user on whose behalf its session works. */
async function tellRequest(host: ServiceHost, news: RequestNews): Promise<void> {
  const { message, requestId, session, tenant } = news;
  const user = news.user ?? (await requesterOf(host, tenant, session));
  if (user === undefined) return;
  const service = new NotificationService(host, tenant, { channels: [] });
  await service.send({
    ...{ id: `request:${requestId}`, user, title: 'Somebody has to decide', text: message },
    about: { session, request: requestId },
    ...(news.expiresAt === undefined ? {} : { expiresAt: news.expiresAt }),
  });
}

async function requesterOf(
  host: ServiceHost,
  tenant: string,
  session: string,
): Promise<string | undefined> {
  const rows = await host.ledgers(tenant).rows({ kind: taskKind, session, limit: 1 });
  const user = rows[0]?.user;
  return user === 'system' ? undefined : user;
}

function checked(options: NotificationsOptions): NotifierSettings {
  const invalid = findInvalidOption(options, {
    channels: isAnything,
    quietHours: isAnything,
    intervalMs: isNotNegative,
    retry: isObject,
    requests: isFlag,
  });
  if (invalid !== undefined) throw refusal(invalid.reason);
  const { channels, intervalMs, quietHours, retry } = options;
  if (!Array.isArray(channels) || channels.length === 0)
    throw refusal(`\`channels\` must be a list with a channel, not ${describeValue(channels)}`);
  const names = channels.map((channel: Partial<Channel> | undefined) => channel?.name);
  if (channels.some((one: Partial<Channel> | undefined) => typeof one?.send !== 'function'))
    throw refusal('each of `channels` must be made by a function such as `emailChannel`');
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw refusal(`two channels have the name "${twice}": give one another \`name\``);
  const wrong = retry === undefined ? undefined : findInvalidOption(retry, retryChecks);
  if (wrong !== undefined) throw refusal(`\`retry\`: ${wrong.reason}`);
  // Refuses hours that cannot be before anything is to be sent.
  if (typeof quietHours === 'object') isQuiet(quietHours, 0);
  return { channels, intervalMs, retry, quietHours };
}

function refusal(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'notifications', reason });
}
