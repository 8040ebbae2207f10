import { z } from '@hono/zod-openapi';
import { AdjutantError, type Runtime } from 'adjutant';
import type { EvalReportsOptions } from 'adjutant/eval';
import { nearestName } from 'adjutant/text';
import type {
  AuthOptions,
  ClaimNames,
  CorsOptions,
  DashboardOptions,
  JwtOptions,
  ServerLimits,
  ServerOptions,
  StreamOptions,
} from './options.ts';

/** The server cannot be made as asked. */
export class InvalidServerError extends AdjutantError<string> {
  constructor(data: { reason: string }) {
    super('invalid_server', `The server cannot be made: ${data.reason}.`, data);
  }
}

/** A schema for each option that there is: a new one does not compile until it is checked. */
type Shape<Options> = { readonly [Key in keyof Required<Options>]: z.ZodType };

/** The messages of the schemas end the sentence "`option` must be …". */
const flag = z.boolean('true or false');
const text = z.string('a string that is not empty').min(1, 'a string that is not empty');
const count = z.int('a whole number from 1').min(1, 'a whole number from 1');
const share = z
  .number('a number above 0 and up to 1')
  .positive('a number above 0 and up to 1')
  .max(1, 'a number above 0 and up to 1');
const milliseconds = z
  .number('a number of milliseconds greater than 0')
  .positive('a number of milliseconds greater than 0');
const callable = z.custom((value) => typeof value === 'function', 'a function');

/** Shortest secret of HS256 tokens: as many bits as the hash has. */
const shortestSecretBytes = 32;

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function isAddress(value: unknown, fits: (url: URL) => boolean): boolean {
  return typeof value === 'string' && URL.canParse(value) && fits(new URL(value));
}

const keySet = z.custom(
  (value) =>
    isAddress(
      value,
      (url) => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)),
    ),
  'an https:// address, or an http:// one of this machine',
);

const secretText = z.custom((value) => {
  const revealed =
    typeof value === 'object' &&
    value !== null &&
    'reveal' in value &&
    typeof value.reveal === 'function'
      ? value.reveal()
      : value;
  return typeof revealed === 'string' && Buffer.byteLength(revealed) >= shortestSecretBytes;
}, `a text (or secret()) of at least ${shortestSecretBytes} bytes`);

const publicAddress = z.custom(
  (value) =>
    isAddress(
      value,
      (url) =>
        /^https?:$/.test(url.protocol) &&
        url.username === '' &&
        url.search === '' &&
        url.hash === '',
    ),
  'an http:// or https:// address without credentials, query or fragment',
);

const origin = z.custom(
  (value) => value === '*' || isAddress(value, (url) => url.origin === value),
  'an origin such as "https://app.example.com" (no path and no slash at the end), or "*"',
);

function group<Options>(shape: Shape<Options>): z.ZodType {
  return z.strictObject(shape as Record<string, z.ZodType>, {
    error: (issue) => (issue.code === 'invalid_type' ? 'an object' : undefined),
  });
}

function optional<Options>(shape: Shape<Options>): Shape<Options> {
  return Object.fromEntries(
    Object.entries<z.ZodType>(shape).map(([name, schema]) => [name, schema.optional()]),
  ) as unknown as Shape<Options>;
}

const claims = group(
  optional<ClaimNames>({
    tenant: z.union([text, z.literal(false)], 'the name of a claim, or false'),
    roles: text,
    user: text,
    agents: text,
  }),
);
const jwt = group(
  optional<JwtOptions>({ jwks: keySet, secret: secretText, issuer: text, audience: text, claims }),
).refine((given) => {
  const { jwks, secret, audience } = given as JwtOptions;
  return (
    (jwks === undefined) !== (secret === undefined) &&
    (jwks === undefined || audience !== undefined)
  );
}, 'an object with either `jwks` and `audience`, or `secret`');
const grantPermissions = z.array(
  z.enum(['operator', 'admin'], "a list of 'operator' and 'admin', or of one of them, or of none"),
  "a list of 'operator' and 'admin', or of one of them, or of none",
);
const auth = group(
  optional<AuthOptions>({ keys: flag, jwt, grantPermissions, signInForMs: milliseconds }),
).refine((given) => {
  const { keys = true, jwt: tokens } = given as AuthOptions;
  return keys || tokens !== undefined;
}, 'an object that lets somebody in: with `keys: false` it needs `jwt`');

const options = group(
  optional<ServerOptions>({
    auth,
    trustProxy: z.int('a whole number from 0').min(0, 'a whole number from 0'),
    limits: group(
      optional<ServerLimits>({
        bodyBytes: count,
        requestsPerMinute: z.union([count, z.literal(false)], 'a whole number from 1, or false'),
        failuresPerMinute: count,
        streams: count,
        streamsInAll: count,
        requests: count,
        storeQueue: count,
        memory: share,
        replays: count,
      }),
    ),
    cors: group<CorsOptions>({
      origins: z.array(origin, 'a list of origins').min(1, 'a list of at least one origin'),
    }),
    dashboard: z.union(
      [group<DashboardOptions>({ folder: text }), z.literal(false)],
      'false, or { folder } with the folder of its files',
    ),
    evals: group<EvalReportsOptions>({ folder: text, maxBytes: count.optional() }),
    stream: group(optional<StreamOptions>({ heartbeatMs: milliseconds })),
    idempotency: group(
      optional<NonNullable<ServerOptions['idempotency']>>({ keepForMs: milliseconds }),
    ),
    publicUrl: publicAddress,
    notices: z.custom((value) => hasMethods(value, ['subscribe', 'publish']), 'a noticeHub()'),
    onError: callable,
    ports: group(
      optional<NonNullable<ServerOptions['ports']>>({
        clock: z.custom((value) => hasMethods(value, ['now', 'monotonic', 'setTimer']), 'a Clock'),
        ids: z.custom((value) => hasMethods(value, ['next']), 'an IdSource'),
      }),
    ),
  }),
);

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}

/**
 * @param others names of options that are checked elsewhere, for the message about one that does
 * not exist
 * @throws InvalidServerError
 */
export function checkServerOptions(
  app: Runtime,
  given: ServerOptions,
  others: readonly string[] = [],
): void {
  const isApp =
    typeof app === 'object' &&
    app !== null &&
    typeof app.run === 'function' &&
    typeof app.app === 'string';
  if (!isApp)
    throw new InvalidServerError({
      reason: 'the first argument must be an app: server(runtime({ app: … }))',
    });
  const [issue] = options.safeParse(given).error?.issues ?? [];
  if (issue !== undefined) throw new InvalidServerError({ reason: reasonOf(issue, others) });
}

/** Says what is wrong, without the value: options hold secrets. */
function reasonOf(issue: z.core.$ZodIssue, others: readonly string[]): string {
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys')
    return path === ''
      ? `the options must be ${issue.message}`
      : `\`${path}\` must be ${issue.message}`;
  const [unknown = ''] = issue.keys;
  const known = [...(issue.path.length === 0 ? others : []), ...optionsAt(issue.path)];
  const nearest = nearestName(unknown, known);
  const hint =
    nearest === undefined ? `the options are ${known.join(', ')}` : `did you mean \`${nearest}\`?`;
  return `there is no option \`${[...issue.path, unknown].join('.')}\` (${hint})`;
}

/** Names of the options of a group. */
function optionsAt(path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = options;
  for (const key of path) at = shapeOf(at)[String(key)];
  return Object.keys(shapeOf(at));
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  if (schema instanceof z.ZodOptional) return shapeOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return Object.assign({}, ...schema.options.map(shapeOf));
  return schema instanceof z.ZodObject ? schema.shape : {};
}
