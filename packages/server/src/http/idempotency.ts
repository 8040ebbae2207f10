import { createHash } from 'node:crypto';
import { canonicalJson, defined } from 'adjutant/text';
import type { Context, MiddlewareHandler } from 'hono';
import { pathForLogs } from './approval-links.ts';
import type { ReportFailure } from './failure-report.ts';
import type { KeptAnswer, KeptAnswers } from './kept-answers.ts';
import type { RepeatedAnswer, ServerEnv, ServerParts } from './parts.ts';
import { problemResponse, RequestRefusedError, statusOf } from './problem.ts';

/** The header that makes a write safe to send again. */
const idempotencyHeader = 'idempotency-key';

export const longestKey = 255;
const keptHeaders = ['content-type', 'location', 'link'];
const writes: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE']);
/** Seconds after which a request whose key is in use may be sent again. */
const retryAfter = '1';
/** Milliseconds between two sweeps of one process. */
const sweepEvery = 3_600_000;

/** True when a key consists of characters that a header can have. */
export function isKeyText(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}

/**
 * The key of a request: the header's text, or what is in it when it is quoted as the draft of the
 * header has it.
 * @throws RequestRefusedError `invalid_idempotency_key` (400)
 */
function keyOf(header: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header);
  const key = quoted === null ? header : (quoted[1] as string).replaceAll(/\\(.)/g, '$1');
  if (key.length <= longestKey && isKeyText(key) && (quoted !== null || !header.startsWith('"')))
    return key;
  throw new RequestRefusedError(
    400,
    'invalid_idempotency_key',
    `The header Idempotency-Key must be 1 to ${longestKey} visible ASCII characters. A ` +
      'random UUID is a good key.',
  );
}

/**
 * Gives writes under one `Idempotency-Key` one answer, in all processes of the app's store. What
 * keeps them, and removes what is too old.
 */
export class Idempotency {
  readonly #kept: KeptAnswers;
  readonly #parts: Pick<ServerParts, 'clock' | 'closing' | 'options'>;
  /** Tenants whose keys this process has seen, with the time of their last sweep. */
  readonly #swept = new Map<string, number>();
  #sweeping: Promise<unknown> = Promise.resolve();

  readonly #report: ReportFailure;

  /** @param report called when an answer could not be kept */
  constructor(
    { kept, clock, options, closing }: Pick<ServerParts, 'kept' | 'clock' | 'options' | 'closing'>,
    report: ReportFailure,
  ) {
    this.#report = report;
    this.#kept = kept;
    this.#parts = { clock, closing, options };
  }

  /** Sees to it that routes answer a request with a key once. */
  get middleware(): MiddlewareHandler<ServerEnv> {
    return async (context, next) => {
      const header = context.req.header(idempotencyHeader);
      if (header !== undefined && writes.has(context.req.method)) {
        context.set('answerOnce', (make, repeated) =>
          this.#answer(context, { header, make, repeated }),
        );
      }
      await next();
    };
  }

  async #answer(
    context: Context<ServerEnv>,
    { header, make, repeated }: OnceRequest,
  ): Promise<Response> {
    const { principal } = context.var;
    const { tenant, id, user, agents } = principal;
    // Tokens of one subject may be bound to others each: what one of them was answered, the next
    // one may not know of.
    const record = `key_${hash([id, user, agents, keyOf(header)])}`;
    const begun = await this.#kept.begin({
      tenant,
      record,
      fingerprint: await fingerprintOf(context),
      by: principal.actor,
    });
    this.#sweepSoon(tenant);
    if (begun.state === 'answered') return replayed(begun.answer);
    if (begun.state === 'other_request') throw keyReused();
    if (begun.state === 'under_way') throw keyInUse();
    context.set('idempotencySeed', begun.seed);
    context.set('isBegunBefore', begun.isBegunBefore);
    let kept: KeptAnswer | undefined;
    try {
      const answer = await make();
      kept = await keptOf(context, answer, repeated);
      return answer;
    } catch (error) {
      if (isFinal(statusOf(error)))
        kept = await keptOf(context, problemResponse(error, context.var.requestId), 'same');
      throw error;
    } finally {
      // The request has been carried out; a failure to keep its answer is not the caller's fault.
      // The same request would find what was made.
      await begun.settle(kept).catch((error: unknown) => {
        this.#report(error, {
          id: context.var.requestId,
          method: context.req.method,
          path: pathForLogs(context.req),
        });
      });
    }
  }

  /** Sweeps what is due among the tenants that this process has seen, behind the request. */
  #sweepSoon(tenant: string): void {
    const { clock, closing, options } = this.#parts;
    const now = clock.now();
    const every = Math.min(sweepEvery, options.idempotency.keepForMs);
    this.#swept.set(tenant, this.#swept.get(tenant) ?? Number.NEGATIVE_INFINITY);
    for (const [due, at] of this.#swept) {
      if (closing.aborted || now - at < every) continue;
      this.#swept.set(due, now);
      // A failed sweep does not keep the next one from running.
      const sweep = async (): Promise<unknown> =>
        this.#kept.sweep(due, closing).catch(() => undefined);
      this.#sweeping = this.#sweeping.then(sweep);
    }
  }

  /** Resolves when nothing is being removed any more. */
  async settled(): Promise<void> {
    await this.#sweeping;
  }
}

interface OnceRequest {
  readonly header: string;
  readonly make: () => Promise<Response>;
  readonly repeated: RepeatedAnswer;
}

/** True when a repeated request would get this answer again at any time. */
function isFinal(status: number): boolean {
  return status < 500 && status !== 429;
}

async function keptOf(
  context: Context<ServerEnv>,
  answer: Response,
  repeated: RepeatedAnswer,
): Promise<KeptAnswer | undefined> {
  const contentType = answer.headers.get('content-type') ?? '';
  const isMade = answer.status < 400;
  // A stream is begun anew, on the run that the key has made.
  if (
    !isFinal(answer.status) ||
    contentType.startsWith('text/event-stream') ||
    (isMade && repeated === 'again')
  )
    return undefined;
  const headers = Object.fromEntries(
    keptHeaders.flatMap((name) => pairOf(name, answer.headers.get(name))),
  );
  const withheld = isMade && repeated === 'refused';
  const body = withheld ? '' : await answer.clone().text();
  const session = /\bjson\b/.test(contentType) ? sessionOf(context, body) : undefined;
  return { status: answer.status, headers, body, withheld, session };
}

/**
 * The session that an answer is about: it is named in the path, in the answer or in the data of a
 * problem.
 */
function sessionOf({ req }: Context<ServerEnv>, body: string): string | undefined {
  const named = req.param('session');
  if (named !== undefined || body === '') return named;
  const { session, data } = JSON.parse(body) as {
    readonly session?: unknown;
    readonly data?: { readonly session?: unknown };
  };
  return [session, data?.session].find((id) => typeof id === 'string') as string | undefined;
}

function pairOf(name: string, value: string | null): [string, string][] {
  return value === null ? [] : [[name, value]];
}

function replayed({ status, headers, body, withheld, isDeleted }: KeptAnswer): Response {
  if (isDeleted === true) {
    throw new RequestRefusedError(
      410,
      'idempotency_answer_deleted',
      'The request was carried out before under this Idempotency-Key. Its answer was about ' +
        'a session that has been deleted since.',
      {},
      { 'idempotency-replayed': 'true' },
    );
  }
  if (withheld) {
    const location = headers['location'];
    throw new RequestRefusedError(
      409,
      'idempotency_answer_secret',
      'The request was carried out before under this Idempotency-Key. Its answer had a ' +
        'secret, which is shown only once.',
      defined({ location }),
      { 'idempotency-replayed': 'true' },
    );
  }
  const hasBody = body !== '';
  return new Response(hasBody ? body : null, {
    status,
    headers: { ...headers, 'idempotency-replayed': 'true' },
  });
}

function keyReused(): RequestRefusedError {
  return new RequestRefusedError(
    422,
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request. Give each request a key of its ' +
      'own, and send the same body under the same key.',
  );
}

function keyInUse(): RequestRefusedError {
  return new RequestRefusedError(
    409,
    'idempotency_key_in_use',
    'A request under this Idempotency-Key is being carried out. Send it again in a moment ' +
      'for its answer.',
    {},
    { 'retry-after': retryAfter },
  );
}

/** Names what is asked for. Equal for bodies of equal JSON; neither can be found out from it. */
async function fingerprintOf(context: Context<ServerEnv>): Promise<string> {
  const { req } = context;
  const { pathname, search } = new URL(req.url);
  const isStream = (req.header('accept') ?? '').includes('text/event-stream');
  return hash([req.method, pathname, search, isStream, canonicalText(await req.text())]);
}

function canonicalText(body: string): string {
  try {
    return canonicalJson(JSON.parse(body));
  } catch {
    return body;
  }
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
