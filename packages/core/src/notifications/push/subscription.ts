import { InvalidOptionError } from '../../base/invalid-option.ts';
import { isListOfText } from '../../base/options.ts';
import { Secret } from '../../base/secret.ts';

/** A subscription as `PushManager.subscribe()` of a page gives it. */
export interface PushSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** Keys by which push services know the sender (RFC 8292). */
export interface VapidKeys {
  /** Address of who is responsible: `mailto:…` or `https://…`. */
  readonly subject: string;
  /** The key that pages subscribe with, as base64url. */
  readonly publicKey: string;
  readonly privateKey: string | Secret;
}

/** Hosts of the push services of browsers. */
const knownServices: readonly string[] = [
  'fcm.googleapis.com',
  'push.services.mozilla.com',
  'notify.windows.com',
  'push.apple.com',
];

/** @throws InvalidOptionError without the private key */
export function readVapid(vapid: VapidKeys): VapidKeys & { readonly privateKey: string } {
  const { subject, publicKey, privateKey } = vapid ?? {};
  const secret = privateKey instanceof Secret ? privateKey.reveal() : privateKey;
  if (typeof subject !== 'string' || !/^(mailto:|https:\/\/)\S+$/.test(subject))
    throw invalid('`vapid.subject` must be an address that begins with mailto: or https://');
  if (bytesOf(publicKey) !== 65)
    throw invalid('`vapid.publicKey` must be 65 bytes as base64url, as web-push makes them');
  if (bytesOf(secret) !== 32)
    throw invalid('`vapid.privateKey` must be 32 bytes as base64url, as web-push makes them');
  return { subject, publicKey, privateKey: secret };
}

/** @throws InvalidOptionError */
export function readServices(services: readonly string[] = knownServices): readonly string[] {
  if (isListOfText(services) === undefined) return services;
  throw invalid("`services` must be a list of hosts, such as ['push.example.com']");
}

/**
 * True for a subscription that may be used. Its address comes from a page, so it could lead the app
 * to any host: only push services are asked, and only by https.
 */
export function isUsable(subscription: PushSubscription, services: readonly string[]): boolean {
  const { endpoint, keys } = subscription ?? {};
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  if (bytesOf(keys?.p256dh) !== 65 || bytesOf(keys?.auth) !== 16) return false;
  return services.some((service) => url.host === service || url.host.endsWith(`.${service}`));
}

/** Returns the length of what base64url stands for; 0 for any other value. */
function bytesOf(value: unknown): number {
  const fits = typeof value === 'string' && /^[\w-]+={0,2}$/.test(value);
  return fits ? Buffer.from(value, 'base64url').length : 0;
}

function invalid(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'webPushChannel', reason });
}
