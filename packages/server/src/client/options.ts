import { defaultRetry, type ReconnectOptions, type ResolvedRetry } from './back-off.ts';
import { defined } from './defined.ts';
import { InvalidClientError } from './errors.ts';
import { type ClientPorts, platformPorts } from './ports.ts';

type Given<Value> = Value | (() => Value | Promise<Value>);

export interface ClientOptions {
  /** Address of the server: `https://agents.example.com`, with a path if it lies below one. */
  readonly url: string;
  /**
   * API key or token; a function is asked before each request, for tokens that expire. @default
   * none
   */
  readonly key?: Given<string>;
  /** Sent with each request. @default none */
  readonly headers?: Given<Readonly<Record<string, string>>>;
  /** Function that makes the requests. @default that of the platform */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  readonly retry?: ReconnectOptions;
  /**
   * Milliseconds that one request may wait for its answer before it counts as lost and is made
   * again. @default 30_000
   */
  readonly timeoutMs?: number;
  /** For tests: where time, chance and names come from. */
  readonly ports?: Partial<ClientPorts>;
}

export interface ResolvedClientOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly credential: () => Promise<string | undefined>;
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly fetch: NonNullable<ClientOptions['fetch']>;
  readonly retry: ResolvedRetry;
  readonly timeoutMs: number;
  readonly ports: ClientPorts;
}

const names: ReadonlySet<string> = new Set([
  'url',
  'key',
  'headers',
  'fetch',
  'retry',
  'timeoutMs',
  'ports',
] satisfies (keyof ClientOptions)[]);
const defaultTimeoutMs = 30_000;

/** @throws InvalidClientError */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  if (typeof options !== 'object' || options === null)
    throw new InvalidClientError({ reason: 'it is made with an object: client({ url })' });
  const unknown = Object.keys(options).find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new InvalidClientError({
      reason: `there is no option "${unknown}"; there are ${[...names].join(', ')}`,
    });
  const {
    key,
    headers = {},
    fetch,
    retry = {},
    timeoutMs = defaultTimeoutMs,
    ports = {},
  } = options;
  assertKind(
    'key',
    key,
    ['string', 'function', 'undefined'],
    'a text, or a function that gives one',
  );
  assertKind(
    'headers',
    headers,
    ['object', 'function'],
    'an object of names and values, or a function that gives one',
  );
  if (headers instanceof Headers || Array.isArray(headers)) {
    throw new InvalidClientError({
      reason: '`headers` must be an object of names and values: Object.fromEntries(headers)',
    });
  }
  assertKind('fetch', fetch, ['function', 'undefined'], 'a function');
  assertKind('retry', retry, ['object'], 'an object such as { giveUpAfterMs: 0 }');
  for (const [name, value] of Object.entries(retry)) assertRetry(name, value);
  if (!isPositive(timeoutMs))
    throw new InvalidClientError({
      reason: `\`timeoutMs\` must be a number of milliseconds above 0, not ${timeoutMs}`,
    });
  return {
    url: addressOf(options.url),
    credential: async () => (typeof key === 'function' ? await key() : key),
    headers: async () => (typeof headers === 'function' ? await headers() : headers),
    // Browsers want it called as a function of the page.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    retry: { ...defaultRetry, ...defined(retry) },
    timeoutMs,
    ports: { ...platformPorts, ...defined(ports) },
  };
}

/** Says nothing of the value, which may be a secret. @throws InvalidClientError */
function assertKind(
  name: keyof ClientOptions,
  value: unknown,
  kinds: readonly string[],
  expected: string,
): void {
  if (value === null || !kinds.includes(typeof value))
    throw new InvalidClientError({ reason: `\`${name}\` must be ${expected}` });
}

function assertRetry(name: string, value: unknown): void {
  if (!Object.hasOwn(defaultRetry, name)) {
    throw new InvalidClientError({
      reason:
        `there is no option \`retry.${name}\`; there are ` +
        `${Object.keys(defaultRetry).join(', ')}`,
    });
  }
  const isFit =
    value === undefined ||
    (name === 'giveUpAfterMs'
      ? value === 0 || isPositive(value)
      : isPositive(value) && Number.isFinite(value));
  if (!isFit)
    throw new InvalidClientError({
      reason: `\`retry.${name}\` must be a number of milliseconds, not ${String(value)}`,
    });
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}

/** @throws InvalidClientError */
function addressOf(url: string): string {
  if (typeof url !== 'string')
    throw new InvalidClientError({
      reason: '`url` must be a text such as "https://agents.example.com"',
    });
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new InvalidClientError({
      reason:
        '`url` must be an address such as https://agents.example.com, not ' +
        `${JSON.stringify(url)}`,
    });
  }
  // It would stand in logs and errors.
  if (parsed.username !== '' || parsed.password !== '')
    throw new InvalidClientError({ reason: '`url` has a name or a password: give it as `key`' });
  if (parsed.search !== '' || parsed.hash !== '')
    throw new InvalidClientError({ reason: '`url` has a query: the address alone is needed' });
  const path = parsed.pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1'))
    throw new InvalidClientError({
      reason: '`url` ends with /v1, which the client adds: leave it out',
    });
  return `${parsed.origin}${path}`;
}
