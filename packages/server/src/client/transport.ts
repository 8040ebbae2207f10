import type { Problem } from '../http/problem.ts';
import { BackOff } from './back-off.ts';
import { defined } from './defined.ts';
import {
  ConnectionLostError,
  InvalidClientError,
  isServerProblem,
  LostError,
  ServerProblemError,
  UnexpectedAnswerError,
} from './errors.ts';
import type { ResolvedClientOptions } from './options.ts';

/** Values of a query; those that are missing are left out. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** One request. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** From `/v1` on, each part encoded: see `pathOf`. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /**
   * Names a write, so that it is done once however often it is sent. @default a new one for each
   * call
   */
  readonly idempotencyKey?: string | undefined;
  /** Milliseconds for which the server itself may take its time. @default 0 */
  readonly waitsMs?: number;
  /** True when a refusal is told at once that may pass, such as 429. @default false */
  readonly tellsRefusals?: boolean;
}

/** Options of each request. */
export interface CallOptions {
  /** Gives the request up. A write may have been done all the same. */
  readonly signal?: AbortSignal;
}

/** Options of a request that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * The same for the same write, also from another process: it is done once, and later calls get
   * its answer. @default a new one for each call
   */
  readonly idempotencyKey?: string;
}

const problemType = 'application/problem+json';
/** Where the same request may succeed a moment later. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const longestText = 200;

/** A path with its parts encoded: pathOf('sessions', id) is `/v1/sessions/…`. */
export function pathOf(...parts: readonly string[]): string {
  return ['/v1', ...parts.map(encodeURIComponent)].join('/');
}

/** Makes the requests of a client, and makes them again while the server cannot be reached. */
export class Transport {
  readonly options: ResolvedClientOptions;

  constructor(options: ResolvedClientOptions) {
    this.options = options;
  }

  backOff(): BackOff {
    return new BackOff(this.options.ports, this.options.retry);
  }

  /**
   * @throws InvalidClientError for an id that would lead to another route, as platforms shorten
   * addresses
   */
  urlOf({ path, query = {} }: Pick<Call, 'path' | 'query'>): string {
    const lost = path
      .split('/')
      .slice(1)
      .find((part) => part === '' || part === '.' || part === '..');
    if (lost !== undefined) throw new InvalidClientError({ reason: `"${lost}" is no id: ${path}` });
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
        search.append(name, String(one));
    }
    return `${this.options.url}${path}${search.size === 0 ? '' : `?${search}`}`;
  }

  /**
   * The JSON of an answer; `undefined` for one without a body. @throws ServerProblemError,
   * ConnectionLostError, UnexpectedAnswerError, the signal's reason
   */
  async json<Answer>(call: Call): Promise<Answer> {
    return this.#untilAnswered(call, async (response, url) => {
      const text = await textOf(response);
      if (text === '') return undefined as Answer;
      try {
        return JSON.parse(text) as Answer;
      } catch {
        throw new UnexpectedAnswerError({
          url,
          status: response.status,
          reason: 'something that is not JSON',
        });
      }
    });
  }

  /** The text of an answer. @throws as `json` */
  text(call: Call): Promise<string> {
    return this.#untilAnswered(call, textOf);
  }

  async #untilAnswered<Answer>(
    call: Call,
    read: (response: Response, url: string) => Promise<Answer>,
  ): Promise<Answer> {
    const url = this.urlOf(call);
    const backOff = this.backOff();
    // One name for all attempts: what an attempt did whose answer was lost is not done again.
    const key =
      call.method === 'GET' ? undefined : (call.idempotencyKey ?? this.options.ports.ids.next());
    for (;;) {
      try {
        return await this.#attempt({ ...call, idempotencyKey: key }, (response) =>
          read(response, url),
        );
      } catch (error) {
        call.signal?.throwIfAborted();
        const isProblem = error instanceof ServerProblemError;
        if (!isPassing(error) || (isProblem && call.tellsRefusals === true)) throw error;
        if (await backOff.wait(call.signal, isProblem ? error.retryAfterMs : 0)) continue;
        throw isProblem
          ? error
          : new ConnectionLostError(
              { url: this.urlOf({ path: call.path }), triedFor: backOff.triedFor },
              { cause: error },
            );
      }
    }
  }

  /** One attempt, which is given up when no answer comes. */
  async #attempt<Answer>(
    call: Call,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const { timeoutMs, ports } = this.options;
    const late = new AbortController();
    const cancel = ports.clock.setTimer(timeoutMs + (call.waitsMs ?? 0), () =>
      late.abort(new LostError('no answer came in time')),
    );
    try {
      const signal =
        call.signal === undefined ? late.signal : AbortSignal.any([call.signal, late.signal]);
      return await read(await this.fetch({ ...call, signal }));
    } catch (error) {
      throw late.signal.aborted ? (late.signal.reason as Error) : error;
    } finally {
      cancel();
    }
  }

  /**
   * One request, made once. @throws ServerProblemError for an answer that is not a good one;
   * whatever `fetch` throws
   */
  async fetch(call: Call): Promise<Response> {
    const { options } = this;
    const { method, body, signal, idempotencyKey } = call;
    const credential = await options.credential();
    const headers = {
      accept: 'application/json',
      ...(await options.headers()),
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...defined({ 'idempotency-key': idempotencyKey }),
      ...call.headers,
    };
    const response = await options
      .fetch(this.urlOf(call), {
        method,
        headers,
        // A write that is sent elsewhere becomes a read on the way.
        redirect: 'manual',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...defined({ signal }),
      })
      .catch((error: unknown) => {
        throw signal?.aborted ? error : new LostError('it did not answer', { cause: error });
      });
    if (response.ok) return response;
    if (isRedirect(response))
      throw new UnexpectedAnswerError({
        url: response.url,
        status: response.status,
        reason: 'a redirection',
      });
    throw await problemOf(response, options.ports.clock.now());
  }
}

/** True when the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  // A queue is full for longer than a moment: its caller decides what to do.
  if (isServerProblem(error, 'queue_full')) return false;
  if (error instanceof ServerProblemError)
    return passing.has(error.status) || error.code === 'idempotency_key_in_use';
  return error instanceof LostError;
}

function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

function textOf(response: Response): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw new LostError('the answer broke off', { cause: error });
  });
}

/** The error of an answer that is not a good one. */
export async function problemOf(response: Response, now: number): Promise<ServerProblemError> {
  const { status, headers } = response;
  const retryAfter = retryAfterOf(headers.get('retry-after'), now);
  const text = await response.text().catch(() => '');
  if (headers.get('content-type')?.startsWith(problemType)) {
    try {
      return new ServerProblemError(JSON.parse(text) as Problem, retryAfter);
    } catch {
      // Cut off on the way: said below.
    }
  }
  const said = text.trim() === '' ? '' : `: ${text.trim().slice(0, longestText)}`;
  return new ServerProblemError(
    {
      code: `http_${status}`,
      status,
      detail: `The server answered ${status} ${response.statusText}${said}`,
    },
    retryAfter,
  );
}

/** Seconds or a date, as RFC 9110 has it, in milliseconds from now. */
function retryAfterOf(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  if (value.trim() !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
