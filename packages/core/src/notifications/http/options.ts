import { type Clock, systemClock } from '../../base/clock.ts';
import { InvalidOptionError } from '../../base/invalid-option.ts';
import { isFunction, isNonEmptyText, isObject, isPositive } from '../../base/options.ts';
import { Secret } from '../../base/secret.ts';
import type { HttpSettings } from './post-message.ts';

/** Options of every channel that sends by HTTP. */
export interface HttpChannelOptions {
  /** Name of the channel, for an app that has two of a kind. @default the kind of the channel */
  readonly name?: string;
  /** Milliseconds for one attempt. @default 10_000 */
  readonly timeoutMs?: number;
  /** Function that sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch;
  /** Clock of the time limit and of timestamps. @default the clock of the machine */
  readonly clock?: Clock;
}

const defaultTimeoutMs = 10_000;

/** Checks of the options of every channel that sends by HTTP. */
export const httpChecks = {
  name: isNonEmptyText,
  timeoutMs: isPositive,
  fetch: isFunction,
  clock: isObject,
};

/** @param kind name of the channel unless the options give another */
export function httpSettings(
  kind: string,
  { name = kind, timeoutMs = defaultTimeoutMs, fetch, clock = systemClock }: HttpChannelOptions,
  secrets: readonly string[],
): HttpSettings {
  // The global function is looked up at each call, since tests and tracers replace it.
  const ask =
    fetch ?? ((...request: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...request));
  return { channel: name, timeoutMs, fetch: ask, clock, secrets };
}

/**
 * Returns the value of an option that must not be shown.
 * @throws InvalidOptionError without the value
 */
export function secretOption(channel: string, option: string, value: unknown): string {
  const text = value instanceof Secret ? value.reveal() : value;
  if (typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidOptionError({
    function: channel,
    reason: `\`${option}\` must be a secret, or a text of visible ASCII characters`,
  });
}

/**
 * Returns an option that is an address. It may hold a token, so no message shows it.
 * @throws InvalidOptionError without the value
 */
export function urlOption(channel: string, option: string, value: unknown): string {
  const text = value instanceof Secret ? value.reveal() : value;
  const url = typeof text === 'string' ? URL.parse(text) : null;
  const fits = url !== null && /^https?:$/.test(url.protocol);
  if (fits && url.username === '' && url.password === '') return url.href;
  throw new InvalidOptionError({
    function: channel,
    reason:
      `\`${option}\` must be an address such as "https://example.com/path", without a ` +
      'password',
  });
}

/** Shortest part of an address that is taken for a secret; hiding "/" would spoil messages. */
const shortestPart = 8;

/** Returns the texts of an address that no message shows. */
export function urlSecrets(url: string): readonly string[] {
  const { pathname, search, searchParams } = new URL(url);
  const parts = [pathname, search.slice(1), ...pathname.split('/'), ...searchParams.values()];
  return [url, ...parts.filter(({ length }) => length >= shortestPart)];
}
