import { expect, test } from 'vitest';
import { type Inhabited, inhabited } from '../../access/inhabited.ts';

const limits = { streams: 2, requestsPerMinute: false, failuresPerMinute: 1_000 } as const;

interface Call {
  readonly path: string;
  readonly body: object;
  readonly accept?: string;
}

const stream = 'text/event-stream';
const message = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

/** Requests that store something and answer with a stream. */
const calls: Readonly<Record<string, (about: Inhabited) => Call>> = {
  'a run in a new session': () => ({
    path: '/v1/runs',
    body: { agent: 'clerk', input: 'Hi' },
    accept: stream,
  }),
  'a run in a session': ({ done }) => ({
    path: `/v1/sessions/${done}/runs`,
    body: { agent: 'clerk', input: 'Hi' },
    accept: stream,
  }),
  'a run that is continued': ({ waiting }) => ({
    path: `/v1/sessions/${waiting}/continue`,
    body: {},
    accept: stream,
  }),
  'a message of a new chat': () => ({
    path: '/v1/agents/clerk/chat',
    body: { id: 'chat', messages: [{ id: 'm', ...message }] },
  }),
  'a message of a chat': ({ done }) => ({
    path: '/v1/agents/clerk/chat',
    body: { id: done, messages: [{ id: 'm', ...message }] },
  }),
  'an approval in a chat': ({ waiting, waitingRun, request }) => {
    const part = {
      type: 'tool-pay',
      toolCallId: `${waitingRun}/r1.0`,
      state: 'approval-responded',
      approval: { id: request, approved: true },
    };
    return {
      path: '/v1/agents/payer/chat',
      body: { id: waiting, messages: [{ id: waitingRun, role: 'assistant', parts: [part] }] },
    };
  },
};

function post(
  { api }: Inhabited,
  as: string,
  { path, body, accept = '*/*' }: Call,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const sent = {
    authorization: `Bearer ${as}`,
    'content-type': 'application/json',
    accept,
    ...headers,
  };
  return api.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    }),
  );
}

/** Opens as many streams as a caller may have. */
async function full(about: Inhabited, as: string): Promise<readonly Response[]> {
  const open = () =>
    about.api.fetch(
      new Request(`http://localhost/v1/sessions/${about.done}/stream`, {
        headers: { authorization: `Bearer ${as}` },
      }),
    );
  return Promise.all([open(), open()]);
}

test.for(Object.keys(calls))(
  'A6: %s is not begun when there is no room for its stream',
  async (name) => {
    const about = await inhabited({ limits });
    const as = await about.key();
    const streams = await full(about, as);
    const before = await about.ledgers();
    const call = (calls[name] as (about: Inhabited) => Call)(about);
    const headers = { 'idempotency-key': 'once' };
    const refused = await post(about, as, call, headers);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      429,
      'too_many_streams',
    ]);
    expect(await about.ledgers()).toEqual(before);
    expect(about.paid).toEqual([]);

    // As it is told: with a place that has become free.
    await streams[0]?.body?.cancel();
    const answer = await post(about, as, call, headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    await answer.body?.cancel();
    await streams[1]?.body?.cancel();
  },
);

test.for<[string, Call]>([
  [
    'an agent that there is not',
    { path: '/v1/runs', body: { agent: 'nobody', input: 'Hi' }, accept: stream },
  ],
  [
    'a session that there is not',
    { path: '/v1/sessions/none/runs', body: { agent: 'clerk', input: 'Hi' }, accept: stream },
  ],
  [
    'a session without an open run',
    { path: '/v1/sessions/left-done/continue', body: {}, accept: stream },
  ],
  [
    'a chat with nobody',
    { path: '/v1/agents/nobody/chat', body: { id: 'c', messages: [{ id: 'm', ...message }] } },
  ],
  [
    'a chat in which nothing is asked',
    {
      path: '/v1/agents/clerk/chat',
      body: { id: 'c', messages: [{ id: 'm', ...message, role: 'assistant' }] },
    },
  ],
])('A6: %s takes no room', async ([, call]) => {
  const about = await inhabited({ limits });
  const as = await about.key();
  for (let i = 0; i < 3; i++) expect([404, 409]).toContain((await post(about, as, call)).status);
  const streams = await full(about, as);
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  for (const { body } of streams) await body?.cancel();
});

test('A6: runs that are started without a stream need no room', async () => {
  const about = await inhabited({ limits });
  const as = await about.key();
  const streams = await full(about, as);
  expect(
    (await post(about, as, { path: '/v1/runs', body: { agent: 'clerk', input: 'Hi' } })).status,
  ).toBe(202);
  for (const { body } of streams) await body?.cancel();
});
