import { InvalidTemporalOptionsError } from './errors.ts';

export interface TemporalOptions {
  /** Address of the Temporal server. @default '127.0.0.1:7233' */
  readonly address?: string;
  /** Namespace of the server. @default 'default' */
  readonly namespace?: string;
  /** Task queue of the workers of the app. @default `adjutant-` and the name of the app */
  readonly taskQueue?: string;
  /**
   * True when this process also works. `false`: it hands wakes on, and other processes work.
   * @default true
   */
  readonly worker?: boolean;
  /**
   * Interval in milliseconds at which Temporal looks at the queue of the app, so that no lost wake
   * costs more than that.
   * @default 5_000
   */
  readonly sweepMs?: number;
  /** Milliseconds in which a server must answer at the start. @default 5_000 */
  readonly connectTimeoutMs?: number;
  /** Encryption of the connection: `true`, or the certificates of the client. @default none */
  readonly tls?: boolean | { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer };
  /** Key of an account of Temporal Cloud. @default none */
  readonly apiKey?: string;
}

/** Options with their defaults. */
export interface ResolvedOptions extends TemporalOptions {
  readonly address: string;
  readonly namespace: string;
  readonly worker: boolean;
  readonly sweepMs: number;
  readonly connectTimeoutMs: number;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isTime = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 1_000;
const isTls = (value: unknown): boolean =>
  isFlag(value) || (typeof value === 'object' && value !== null && 'cert' in value);

const checks: {
  readonly [Name in keyof TemporalOptions]-?: [(value: unknown) => boolean, string];
} = {
  address: [isText, 'a host and a port, such as 127.0.0.1:7233'],
  namespace: [isText, 'the name of a namespace'],
  taskQueue: [isText, 'the name of a task queue'],
  worker: [isFlag, 'true or false'],
  sweepMs: [isTime, 'a number of milliseconds from 1000'],
  connectTimeoutMs: [isTime, 'a number of milliseconds from 1000'],
  tls: [isTls, 'true, or an object with `cert` and `key`'],
  apiKey: [isText, 'a text'],
};

/** @throws InvalidTemporalOptionsError */
export function resolveOptions(options: TemporalOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null)
    throw new InvalidTemporalOptionsError({ reason: 'the options must be an object' });
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name))
      throw new InvalidTemporalOptionsError({
        reason: `there is no option \`${name}\`; there are ${Object.keys(checks).join(', ')}`,
      });
    const [isRight, expected] = checks[name as keyof TemporalOptions];
    if (value !== undefined && !isRight(value))
      throw new InvalidTemporalOptionsError({ reason: `\`${name}\` must be ${expected}` });
  }
  return {
    ...options,
    address: options.address ?? '127.0.0.1:7233',
    namespace: options.namespace ?? 'default',
    worker: options.worker ?? true,
    sweepMs: options.sweepMs ?? 5_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
  };
}
