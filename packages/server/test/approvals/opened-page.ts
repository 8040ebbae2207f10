import type { Event } from 'adjutant';
import { expect } from 'vitest';
import type { AdjutantServer } from '../../src/index.ts';
import { checkAnswer } from '../rest/documented.ts';
import { documentOf, type PayingOptions, send, waitingServer } from './paying-app.ts';

export async function linked(options: PayingOptions = {}, link: object = {}) {
  const made = await waitingServer(options);
  const { status, body } = await send(
    made.api,
    'POST',
    `/v1/approvals/${made.requestId}/link`,
    link,
  );
  expect(status).toBe(201);
  return { ...made, link: body, path: new URL(body.url).pathname };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export async function open(
  api: AdjutantServer,
  path: string,
  init: RequestInit = {},
): Promise<Page> {
  const response = await api.fetch(new Request(`http://localhost${path}`, init));
  const { method = 'GET' } = init;
  const contentType = response.headers.get('content-type');
  if (method !== 'HEAD')
    checkAnswer(documentOf(api), {
      method,
      path,
      status: response.status,
      contentType,
      body: undefined,
    });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

export function decide(
  api: AdjutantServer,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Page> {
  return open(api, path, { method: 'POST', body: new URLSearchParams(form), headers });
}

/** Reasons for which the ledger says that tokens were refused. */
export async function refusals({
  app,
  session,
}: Awaited<ReturnType<typeof waitingServer>>): Promise<unknown[]> {
  await app.resume(session);
  return refusalsIn((await app.sessions.open({ id: session })).events);
}

export function refusalsIn(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'approval_token'
      ? [event.data?.['reason']]
      : [],
  );
}
