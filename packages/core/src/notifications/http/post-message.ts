import type { Clock } from '../../base/clock.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import { classifyThrown, parseRetryAfter } from '../../tools/classify.ts';
import { aborted, type FailureKind, httpFailure, timedOut } from '../../tools/failure-kinds.ts';
import type { SendContext } from '../channel.ts';
import { NotificationFailedError, refusedNotice } from '../errors.ts';
import type { Notice } from '../notice.ts';
import { sendingLimit } from '../sending-limit.ts';
import { readText } from './read-text.ts';

/** Circumstances of the messages of one channel. */
export interface HttpSettings {
  readonly channel: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Texts that no message of an error may hold. */
  readonly secrets: readonly string[];
}

export interface HttpMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

export interface HttpReply {
  readonly status: number;
  /** The body as far as it was read. */
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/** Characters of an answer that a message of an error shows. */
const longestAnswer = 200;

/**
 * Posts a message once, within the time limit and without following a redirect.
 * @throws NotificationFailedError when there is no answer, or it is a redirect
 */
export async function postMessage(
  notice: Notice,
  message: HttpMessage,
  { signal }: SendContext,
  settings: HttpSettings,
): Promise<HttpReply> {
  const limit = sendingLimit(settings.clock, settings.timeoutMs, signal);
  try {
    const { url, headers, body } = message;
    const response = await settings.fetch(url, {
      ...{ method: 'POST', headers, body, redirect: 'manual', signal: limit.signal },
    });
    refuseRedirect(response, notice, settings);
    const text = await readText(response);
    const retryAfter = response.headers.get('retry-after');
    const retryAfterMs = parseRetryAfter(retryAfter ?? undefined, settings.clock.now());
    return { status: response.status, text, retryAfterMs };
  } catch (thrown) {
    if (thrown instanceof NotificationFailedError) throw thrown;
    throw withoutAnswer(thrown, notice, settings, limit.isLate(), signal.aborted);
  } finally {
    limit.end();
  }
}

/**
 * Returns the failure that a status says; `undefined` for one that says success.
 * @param said the reason as the body of the answer gives it
 */
export function failureOfReply(
  notice: Notice,
  { status, retryAfterMs }: HttpReply,
  settings: HttpSettings,
  said = '',
): NotificationFailedError | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const kind: FailureKind =
    status >= 400 && status <= 599 ? httpFailure(status) : refusedNotice(`http_${status}`);
  const shown = withoutSecrets(said, settings.secrets);
  const remark = shown === '' ? '' : ` (${shown})`;
  return new NotificationFailedError({
    ...{ channel: settings.channel, notice: notice.id, kind, retryAfterMs },
    reason: `the server answered with status ${status}${remark}`,
  });
}

/** Returns the text of another system as it may be shown: on one line, short, without secrets. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text.toWellFormed());
  return visibleLine(cutText(hidden.trim(), longestAnswer));
}

function refuseRedirect(response: Response, notice: Notice, settings: HttpSettings): void {
  const { status, type } = response;
  if (type !== 'opaqueredirect' && (status < 300 || status > 399)) return;
  // The rest of the answer is not needed.
  response.body?.cancel().catch(() => undefined);
  throw new NotificationFailedError({
    ...{ channel: settings.channel, notice: notice.id, kind: refusedNotice('redirect_refused') },
    reason: 'the server answered with a redirect, which is not followed',
  });
}

function withoutAnswer(
  thrown: unknown,
  notice: Notice,
  { channel, timeoutMs }: HttpSettings,
  late: boolean,
  isAborted: boolean,
): NotificationFailedError {
  const of = { channel, notice: notice.id };
  if (late)
    return new NotificationFailedError({
      ...{ ...of, kind: timedOut, reason: `there was no answer within ${timeoutMs} ms` },
    });
  if (isAborted)
    return new NotificationFailedError({
      ...{ ...of, kind: aborted, reason: 'it was aborted while it was being sent' },
    });
  // Messages of `fetch` may hold the address, which may hold a secret.
  const { result, effect } = classifyThrown(thrown);
  const errorType = result.errorType ?? 'network_error';
  return new NotificationFailedError({
    ...{ ...of, kind: { status: result.status, errorType, effect } },
    reason: `the server could not be asked (${errorType})`,
  });
}
