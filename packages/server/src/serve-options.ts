import { InvalidServerError } from './option-checks.ts';
import type { ServerOptions } from './options.ts';

export type ProcessGuardMode = 'continue' | 'close' | false;

/** Options for the end of a server. */
export interface ShutdownOptions {
  /** Milliseconds that requests under way have to come to their end. @default 10_000 */
  readonly graceMs?: number;
  /**
   * True when SIGTERM and SIGINT end the server. It takes no new requests and closes the app, so
   * that other processes go on with its runs. Then the signal ends the process. A second signal
   * ends it at once.
   * @default false
   */
  readonly signals?: boolean;
}

export interface ServeOptions extends ServerOptions {
  /** `0` for one that is free. @default 8787 */
  readonly port?: number;
  /** Address to listen on. Others than this machine's own need `auth`. @default '127.0.0.1' */
  readonly hostname?: string;
  /**
   * Milliseconds within which a request must have come in, head and body; one that has not is
   * answered with 408 and its connection cut. Answers may take as long as they want. @default
   * 60_000
   */
  readonly requestTimeoutMs?: number;
  readonly shutdown?: ShutdownOptions;
  /**
   * Reaction to a failure that no code of the process handles while the server listens.
   * `'continue'`: `onError` is called (`unhandled_rejection`, `uncaught_exception`), and the
   * process goes on. `'close'`: the process goes on after rejected promises. After an uncaught
   * exception the server and the app are closed, and the process ends with the code 1. `false`:
   * Node's own behaviour, which ends the process.
   * @default 'continue'
   */
  readonly processGuard?: ProcessGuardMode;
}

const highestPort = 65_535;

const shortestRequestMs = 10;

export const serveOptionNames = {
  port: true,
  hostname: true,
  requestTimeoutMs: true,
  shutdown: true,
  processGuard: true,
} satisfies Record<Exclude<keyof ServeOptions, keyof ServerOptions>, true>;

/**
 * Returns the options of the handler. A value that is no object is returned as it is, to be
 * refused.
 */
export function withoutServeOptions(options: ServeOptions): ServerOptions {
  if (typeof options !== 'object' || options === null) return options;
  const {
    port: _port,
    hostname: _hostname,
    requestTimeoutMs: _requestTimeout,
    shutdown: _shutdown,
    processGuard: _processGuard,
    ...serverOptions
  } = options;
  return serverOptions;
}

interface CheckedServeOptions {
  readonly port: unknown;
  readonly hostname: unknown;
  readonly requestTimeoutMs: unknown;
  readonly shutdown: ShutdownOptions;
  readonly processGuard: unknown;
}

export function checkServeOptions({
  port,
  hostname,
  requestTimeoutMs,
  shutdown,
  processGuard,
}: CheckedServeOptions): void {
  const refuse = (reason: string): never => {
    throw new InvalidServerError({ reason });
  };
  if (!Number.isInteger(port) || (port as number) < 0 || (port as number) > highestPort)
    refuse(`\`port\` must be a number from 0 to ${highestPort}`);
  if (typeof hostname !== 'string' || hostname.trim() === '')
    refuse('`hostname` must be a name or an address to listen on');
  if (!Number.isInteger(requestTimeoutMs) || (requestTimeoutMs as number) < shortestRequestMs)
    refuse(`\`requestTimeoutMs\` must be a number of milliseconds, ${shortestRequestMs} at least`);
  if (!['continue', 'close', false].includes(processGuard as never))
    refuse("`processGuard` must be 'continue', 'close' or false");
  if (typeof shutdown !== 'object' || shutdown === null) refuse('`shutdown` must be an object');
  const { graceMs = 0, signals = false, ...others } = shutdown;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    refuse(`there is no option \`shutdown.${unknown}\`; there are graceMs and signals`);
  if (typeof graceMs !== 'number' || !(graceMs >= 0))
    refuse('`shutdown.graceMs` must be a number of milliseconds');
  if (typeof signals !== 'boolean') refuse('`shutdown.signals` must be true or false');
}
