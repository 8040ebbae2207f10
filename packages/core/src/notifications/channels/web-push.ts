import { sha256 } from '../../base/hash.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';
import { isAnything, isFunction } from '../../base/options.ts';
import type { Channel, SendContext } from '../channel.ts';
import { NotificationFailedError, refusedNotice } from '../errors.ts';
import { type HttpChannelOptions, httpChecks, httpSettings, urlSecrets } from '../http/options.ts';
import { failureOfReply, type HttpSettings, postMessage } from '../http/post-message.ts';
import type { Notice } from '../notice.ts';
import { pushPayload } from '../push/payload.ts';
import {
  isUsable,
  type PushSubscription,
  readServices,
  readVapid,
  type VapidKeys,
} from '../push/subscription.ts';
import { addressOf, channelOf, type FindAddress, refused } from '../send-notice.ts';

export interface WebPushChannelOptions extends HttpChannelOptions {
  /** Keys of the sender, as `npx web-push generate-vapid-keys` makes them. */
  readonly vapid: VapidKeys;
  /** Finds the subscriptions of the browsers of a person. */
  readonly subscriptionsOf: FindAddress<readonly PushSubscription[]>;
  /**
   * Hosts of push services that subscriptions may name; those below them, too. A page could give
   * any address. @default the services of Chrome, Edge, Firefox and Safari
   */
  readonly services?: readonly string[];
}

/** Browsers of one person that are asked, at the same time. */
const mostSubscriptions = 20;
/** Seconds for which a service keeps a message for a browser that is off. */
const longestLife = 24 * 60 * 60;

/**
 * A channel to browsers by Web Push, encrypted for each of them. A notice counts as sent when one
 * browser's service has taken it. Subscriptions that have ended are in `gone`.
 * @throws InvalidOptionError; MissingPackageError by `send`
 */
export function webPushChannel(options: WebPushChannelOptions): Channel {
  const { subscriptionsOf } = options;
  checkOptions(
    'webPushChannel',
    { ...options, subscriptionsOf: subscriptionsOf ?? null },
    {
      ...httpChecks,
      ...{ vapid: isAnything, subscriptionsOf: isFunction, services: isAnything },
    },
  );
  const vapid = readVapid(options.vapid);
  const services = readServices(options.services);
  const settings = httpSettings('web-push', options, [vapid.privateKey]);
  const { channel } = settings;
  return channelOf(channel, false, async (notice, context) => {
    const found = await addressOf(channel, notice, subscriptionsOf);
    const usable = found.filter((each) => isUsable(each, services)).slice(0, mostSubscriptions);
    if (usable.length === 0)
      throw found.length === 0
        ? refused(channel, notice, 'no_recipient', 'the user has no subscription')
        : refused(channel, notice, 'invalid_recipient', 'no subscription is of a push service');
    const outcomes = await Promise.all(
      usable.map((each) => pushTo(each, notice, context, { vapid, settings })),
    );
    const gone = usable.flatMap(({ endpoint }, index) =>
      outcomes[index] === 'gone' ? [endpoint] : [],
    );
    if (!outcomes.includes('sent')) throw commonFailure(channel, notice, outcomes, gone);
    return { channel, ...(gone.length === 0 ? {} : { gone }) };
  });
}

type Outcome = 'sent' | 'gone' | NotificationFailedError;

interface Sender {
  readonly vapid: VapidKeys & { readonly privateKey: string };
  readonly settings: HttpSettings;
}

/** Sends to one browser. @throws MissingPackageError */
async function pushTo(
  subscription: PushSubscription,
  notice: Notice,
  context: SendContext,
  { vapid, settings }: Sender,
): Promise<Outcome> {
  const { default: webPush } = await loadOptionalPackage(
    'web-push',
    'webPushChannel()',
    () => import('web-push'),
  );
  const { endpoint, keys } = subscription;
  // A service that still holds a message of this topic replaces it.
  const topic = sha256(context.idempotencyKey).slice(0, 32);
  const leftMs = (notice.expiresAt ?? Number.POSITIVE_INFINITY) - settings.clock.now();
  try {
    const { headers, body } = webPush.generateRequestDetails(
      { endpoint, keys: { ...keys } },
      pushPayload(notice, topic),
      {
        ...{ topic, vapidDetails: vapid, urgency: notice.urgent === true ? 'high' : 'normal' },
        TTL: Math.max(0, Math.min(longestLife, Math.floor(leftMs / 1_000))),
      },
    );
    const { 'Content-Length': _, ...others } = headers;
    const texts = Object.entries(others).map(([name, value]) => [name, String(value)]);
    const message = {
      ...{ url: endpoint, headers: Object.fromEntries(texts) },
      body: new Uint8Array(body),
    };
    const secrets = [...settings.secrets, ...urlSecrets(endpoint)];
    const reply = await postMessage(notice, message, context, { ...settings, secrets });
    if (reply.status === 404 || reply.status === 410) return 'gone';
    return failureOfReply(notice, reply, { ...settings, secrets }, reply.text) ?? 'sent';
  } catch (thrown) {
    if (thrown instanceof NotificationFailedError) return thrown;
    return refused(
      ...([settings.channel, notice, 'invalid_recipient'] as const),
      'the keys of the subscription are no keys',
    );
  }
}

/** Returns the failure of all browsers together: it may pass when that of one may. */
function commonFailure(
  channel: string,
  notice: Notice,
  outcomes: readonly Outcome[],
  gone: readonly string[],
): NotificationFailedError {
  const failures = outcomes.filter((outcome) => outcome instanceof NotificationFailedError);
  const first = failures.find(({ permanent }) => !permanent) ?? failures[0];
  const isUnknown = failures.some(({ effect }) => effect === 'unknown');
  const of = { channel, notice: notice.id, gone };
  if (first === undefined)
    return new NotificationFailedError({
      ...{ ...of, kind: refusedNotice('no_recipient') },
      reason: 'all subscriptions of the user have ended',
    });
  const { status, errorType, reason, retryAfterMs } = first;
  const kind = { status, errorType, effect: isUnknown ? 'unknown' : 'none' } as const;
  return new NotificationFailedError({ ...of, kind, reason, retryAfterMs });
}
