import { describe, expect, test } from 'vitest';
import {
  type Permission,
  permissionsOfRole,
  type Role,
  roles,
} from '../../src/access/principal.ts';
import type { NewApiKey } from '../../src/index.ts';
import { type Inhabited, inhabited } from '../access/inhabited.ts';

interface Call {
  readonly path: string;
  readonly body?: unknown;
  /** Of a form, in the place of a body of JSON. */
  readonly form?: string;
}

interface Entry {
  readonly permission: Permission | 'public';
  /** A call that works, about what the tenant `left` has. */
  readonly call: (about: Inhabited) => Call | Promise<Call>;
  readonly status: number;
  /**
   * What callers of another tenant, and those who are bound to another user, are answered: with 404
   * or 204, as if it were not there; or of what is their own (`own`), in which nothing is of the
   * others.
   */
  readonly others: 204 | 403 | 404 | 'own';
  /** Whose callers it is for. @default 'left' */
  readonly tenant?: string;
  /** The same for callers who are bound to another agent. @default as `others` */
  readonly ofOtherAgents?: number | 'own';
  /** The same for callers of the tenant who are bound to another user. @default as `others` */
  readonly ofOtherUsers?: number | 'own';
  /** The status for the role `user`. @default `status` */
  readonly ofUsers?: number;
}

const session =
  (rest = '') =>
  ({ done }: Inhabited): Call => ({ path: `/v1/sessions/${done}${rest}` });
const post =
  (path: (about: Inhabited) => string, body: unknown = {}) =>
  (about: Inhabited): Call => ({ path: path(about), body });
const read = { permission: 'read', status: 200, others: 404 } as const;
const operate = { permission: 'operate', status: 202, others: 404 } as const;
const chat = { permission: 'chat', status: 202, others: 404 } as const;
const manage = { permission: 'manage', status: 200, others: 404 } as const;
const open = { permission: 'public', status: 200, others: 'own' } as const;

/** The request that `useChat` sends when somebody approves. */
function approvingChat({ waiting, waitingRun, request }: Inhabited): object {
  const part = {
    type: 'tool-pay',
    toolCallId: `${waitingRun}/r1.0`,
    state: 'approval-responded',
    approval: { id: request, approved: true },
  };
  return { id: waiting, messages: [{ id: waitingRun, role: 'assistant', parts: [part] }] };
}

/** Every route of the server. One that is not here fails the test. */
const entries: Readonly<Record<string, Entry>> = {
  startRun: {
    ...operate,
    call: post(() => '/v1/runs', { agent: 'clerk', input: 'Hi' }),
    others: 'own',
    ofOtherAgents: 404,
  },
  startRunInSession: {
    ...operate,
    call: post(({ done }) => `/v1/sessions/${done}/runs`, { agent: 'clerk', input: 'Hi' }),
  },
  listRuns: { ...read, call: session('/runs') },
  getRun: { ...read, call: ({ done, run }) => ({ path: `/v1/sessions/${done}/runs/${run}` }) },
  findRun: { ...read, call: ({ run }) => ({ path: `/v1/runs/${run}` }) },
  cancelRun: {
    ...chat,
    call: post(({ waiting, waitingRun }) => `/v1/sessions/${waiting}/runs/${waitingRun}/cancel`),
  },
  createSession: { ...operate, status: 201, others: 'own', call: post(() => '/v1/sessions') },
  listSessions: { ...read, others: 'own', call: () => ({ path: '/v1/sessions' }) },
  getSession: { ...read, call: session() },
  deleteSession: { ...operate, status: 204, call: session() },
  forkSession: { ...operate, status: 201, call: post(({ done }) => `/v1/sessions/${done}/fork`) },
  sendMessage: {
    ...operate,
    call: post(({ waiting }) => `/v1/sessions/${waiting}/messages`, { text: 'Hi' }),
  },
  cancelSession: { ...chat, call: post(({ waiting }) => `/v1/sessions/${waiting}/cancel`) },
  pauseSession: { ...operate, call: post(({ waiting }) => `/v1/sessions/${waiting}/pause`) },
  continueSession: { ...operate, call: post(({ waiting }) => `/v1/sessions/${waiting}/continue`) },
  // Nothing there is to be repaired.
  tellOutcome: {
    ...operate,
    status: 409,
    call: post(({ done }) => `/v1/sessions/${done}/outcomes`, { callId: 'x/y', happened: true }),
  },
  reopenSession: {
    ...operate,
    status: 409,
    call: post(({ done }) => `/v1/sessions/${done}/reopen`, { reason: 'Fixed' }),
  },
  listEvents: { ...read, call: session('/events') },
  getState: { ...read, call: session('/state') },
  getTranscript: { ...read, call: session('/transcript') },
  listAgents: { ...read, others: 'own', call: () => ({ path: '/v1/agents' }) },
  getAgent: {
    ...read,
    others: 'own',
    ofOtherAgents: 404,
    call: () => ({ path: '/v1/agents/clerk' }),
  },
  getUsage: { ...read, others: 'own', call: () => ({ path: '/v1/usage' }) },
  listRequests: { ...read, others: 'own', call: () => ({ path: '/v1/approvals' }) },
  answerRequests: {
    ...operate,
    status: 200,
    others: 'own',
    call: post(
      () => '/v1/approvals',
      ({ request }: Inhabited) => ({ answers: [{ requestId: request, decision: 'approve' }] }),
    ),
  },
  getRequest: { ...read, call: ({ request }) => ({ path: `/v1/approvals/${request}` }) },
  answerRequest: {
    ...operate,
    status: 200,
    call: post(({ request }) => `/v1/approvals/${request}`, { decision: 'approve' }),
  },
  linkRequest: {
    ...operate,
    status: 201,
    call: post(({ request }) => `/v1/approvals/${request}/link`),
  },
  showApproval: { ...open, call: async (about) => ({ path: await linkTo(about) }) },
  decideApproval: {
    ...open,
    call: async (about) => ({ path: await linkTo(about), form: 'decision=approve' }),
  },
  settleOperation: {
    ...operate,
    status: 200,
    call: post(({ operation }) => `/v1/resume/${operation}`, { result: 'a film' }),
  },
  getHealth: { ...open, call: () => ({ path: '/v1/health' }) },
  getReadiness: { ...open, call: () => ({ path: '/v1/ready' }) },
  getMetrics: {
    ...read,
    tenant: 'default',
    others: 403,
    ofUsers: 403,
    call: () => ({ path: '/v1/metrics' }),
  },
  listAudit: {
    ...read,
    permission: 'audit',
    others: 'own',
    ofOtherAgents: 403,
    ofOtherUsers: 403,
    call: () => ({ path: '/v1/audit' }),
  },
  listKeys: { ...manage, others: 'own', call: () => ({ path: '/v1/keys' }) },
  createKey: {
    ...manage,
    status: 201,
    others: 'own',
    call: post(() => '/v1/keys', { name: 'x', roles: ['viewer'] }),
  },
  revokeKey: { ...manage, call: ({ spareKey }) => ({ path: `/v1/keys/${spareKey}` }) },
  rotateKey: { ...manage, call: post(({ spareKey }) => `/v1/keys/${spareKey}/rotate`) },
  streamSession: { ...read, call: session('/stream') },
  streamRun: {
    ...read,
    call: ({ done, run }) => ({ path: `/v1/sessions/${done}/runs/${run}/stream` }),
  },
  sendChat: {
    ...chat,
    status: 200,
    // The approval that waits is not theirs to give.
    ofUsers: 403,
    call: post(() => '/v1/agents/payer/chat', approvingChat),
  },
  resumeChat: {
    ...read,
    others: 204,
    ofOtherAgents: 404,
    call: ({ waiting }) => ({ path: `/v1/agents/payer/chat/${waiting}/stream` }),
  },
  listChatMessages: {
    ...read,
    others: 'own',
    ofOtherAgents: 404,
    call: ({ waiting }) => ({ path: `/v1/agents/payer/chat/${waiting}/messages` }),
  },
  // A WebSocket needs a socket: see strangers.test.ts.
  openSocket: { ...read, status: 426, others: 'own', call: session('/socket') },
  getOpenApi: { ...open, call: () => ({ path: '/v1/openapi.json' }) },
};

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly permission: string;
}

/** Every operation of the document. */
function operationsOf({ api }: Pick<Inhabited, 'api'>): readonly Operation[] {
  const { paths } = api.openApi() as {
    readonly paths: Record<string, Record<string, { operationId: string; 'x-permission': string }>>;
  };
  return Object.values(paths).flatMap((item) =>
    Object.entries(item).map(([method, { operationId, 'x-permission': permission }]) => ({
      operationId,
      method: method.toUpperCase(),
      permission,
    })),
  );
}

async function linkTo({ api, key, request }: Inhabited): Promise<string> {
  const response = await api.fetch(
    new Request(`http://localhost/v1/approvals/${request}/link`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await key()}`, 'content-type': 'application/json' },
      body: '{}',
    }),
  );
  const { url } = (await response.json()) as { url: string };
  return new URL(url).pathname;
}

function methodOf(about: Inhabited, operationId: string): string {
  return (
    operationsOf(about).find((operation) => operation.operationId === operationId) as Operation
  ).method;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Calls a route. Of a stream, only the beginning is read. */
async function callRoute(
  about: Inhabited,
  operationId: string,
  credential: string | undefined,
  changed: Partial<Call> = {},
): Promise<Answer> {
  const method = methodOf(about, operationId);
  const { path, body, form } = {
    ...(await (entries[operationId] as Entry).call(about)),
    ...changed,
  };
  const sent = typeof body === 'function' ? body(about) : body;
  const response = await about.api.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...(form === undefined
          ? {}
          : { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(form === undefined ? {} : { body: form }),
      ...(sent === undefined
        ? {}
        : { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    }),
  );
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isEndless) await response.body?.cancel();
  return { status: response.status, text: isEndless ? '' : await response.text() };
}

test('every route has an entry, with the permission that it asks for', async () => {
  const operations = operationsOf(await inhabited());
  expect(operations.length).toBeGreaterThan(30);
  expect(
    Object.fromEntries(operations.map(({ operationId, permission }) => [operationId, permission])),
  ).toEqual(
    Object.fromEntries(
      Object.entries(entries).map(([operationId, { permission }]) => [operationId, permission]),
    ),
  );
});

const operationIds = Object.keys(entries);
const callers: readonly (Role | 'nobody')[] = ['nobody', ...roles];

describe.for(callers)('%s', (caller) => {
  const mayDo = (permission: Permission | 'public'): boolean => {
    if (permission === 'public') return true;
    return caller !== 'nobody' && permissionsOfRole[caller].includes(permission);
  };

  test.for(operationIds)('%s', async (operationId) => {
    const { permission, status, ofUsers = status, tenant = 'left' } = entries[operationId] as Entry;
    const about = await inhabited();
    const credential =
      caller === 'nobody'
        ? undefined
        : await about.key({
            roles: [caller],
            tenant,
            ...(caller === 'user' ? { user: 'ann' } : {}),
          });
    const before = await about.ledgers();
    if (mayDo(permission)) {
      expect(await callRoute(about, operationId, credential)).toMatchObject({
        status: caller === 'user' ? ofUsers : status,
      });
      return;
    }
    const denied = caller === 'nobody' ? 401 : 403;
    expect((await callRoute(about, operationId, credential)).status).toBe(denied);
    // Whoever may not call is told nothing else: not what a call must be, nor what there is.
    const isWrite = methodOf(about, operationId) !== 'GET';
    const malformed = isWrite
      ? { body: '{"not": json' }
      : { path: `${(await missing(about, operationId)).path}?limit=many` };
    expect((await callRoute(about, operationId, credential, malformed)).status).toBe(denied);
    expect(
      (
        await callRoute(about, operationId, credential, {
          path: (await missing(about, operationId)).path,
        })
      ).status,
    ).toBe(denied);
    expect(await about.ledgers()).toEqual(before);
  });
});

/** The same call about what there is not. */
async function missing(about: Inhabited, operationId: string): Promise<Call> {
  const call = await (entries[operationId] as Entry).call(about);
  const { done, waiting, run, waitingRun, request, operation, spareKey } = about;
  const path = [waitingRun, run, waiting, done, request, operation, spareKey].reduce(
    (made, id) => made.replace(`/${id}`, '/nothing'),
    call.path,
  );
  return { ...call, path };
}

const strangers: readonly [string, Partial<NewApiKey>][] = [
  ['an administrator of another tenant', { tenant: 'right' }],
  [
    'an administrator of another tenant, of a user of the same name',
    { tenant: 'right', user: 'ann' },
  ],
  ['an administrator who is bound to another user', { user: 'bob' }],
  ['an administrator who is bound to another agent', { agents: ['cook'] }],
];

describe.for(strangers)('%s', ([, bound]) => {
  test.for(operationIds)('%s', async (operationId) => {
    const {
      permission,
      status,
      others,
      ofOtherAgents = others,
      ofOtherUsers = others,
    } = entries[operationId] as Entry;
    if (permission === 'public') return;
    const about = await inhabited();
    const credential = await about.key(bound);
    const before = await about.ledgers();
    const expected =
      bound.agents !== undefined
        ? ofOtherAgents
        : bound.tenant === undefined
          ? ofOtherUsers
          : bound.user !== undefined && operationId === 'listAudit'
            ? 403
            : others;
    const answer = await callRoute(about, operationId, credential);
    expect(answer).toMatchObject({ status: expected === 'own' ? status : expected });
    if (expected === 404) {
      const absent = await missing(about, operationId);
      if (!operationId.startsWith('startRun'))
        expect(withoutIds((await callRoute(about, operationId, credential, absent)).text)).toEqual(
          withoutIds(answer.text),
        );
    }
    for (const known of ['left', 'private words', 'spare'])
      expect(answer.text).not.toContain(known === 'left' ? 'left-run' : known);
    const after = await about.ledgers();
    expect(Object.fromEntries(Object.entries(after).filter(([id]) => id in before))).toEqual(
      before,
    );
    expect(about.paid).toEqual([]);
  });
});

/** A problem without what names the request and what was asked for. */
function withoutIds(text: string): unknown {
  const { code, status, title } = JSON.parse(text) as Record<string, unknown>;
  return { code, status, title };
}
