import type { Permission } from '../../src/access/principal.ts';
import type { Inhabited } from '../access/inhabited.ts';

export interface Call {
  readonly path: string;
  readonly body?: unknown;
  /** Of a form, in the place of a body of JSON. */
  readonly form?: string;
}

export interface Entry {
  readonly permission: Permission | 'public';
  /** A call that works, about what the tenant `left` has. */
  readonly call: (about: Inhabited) => Call | Promise<Call>;
  readonly status: number;
  /**
   * Answer to callers of another tenant or bound to another user: 404 or 204, as if it were not
   * there; or of what is their own (`own`), in which nothing is of the others.
   */
  readonly others: 204 | 403 | 404 | 'own';
  /** Whose callers it is for. @default 'left' */
  readonly tenant?: string;
  /** The same for callers who are bound to another agent. @default as `others` */
  readonly ofOtherAgents?: number | 'own';
  /** The same for callers of the tenant who are bound to another user. @default as `others` */
  readonly ofOtherUsers?: number | 'own';
  /** The same for callers of another tenant who are bound to a user. @default as `others` */
  readonly ofStrangeUsers?: number | 'own';
  /** The status for the role `user`. @default `status` */
  readonly ofUsers?: number;
}

const session =
  (rest = '') =>
  ({ done }: Inhabited): Call => ({ path: `/v1/sessions/${done}${rest}` });
const trigger =
  (rest = '') =>
  ({ trigger: name }: Inhabited): Call => ({ path: `/v1/triggers/${name}${rest}` });
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
export const entries: Readonly<Record<string, Entry>> = {
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
  listTasks: { ...read, others: 'own', call: () => ({ path: '/v1/tasks' }) },
  submitTask: {
    ...operate,
    status: 201,
    others: 'own',
    ofOtherAgents: 404,
    call: post(() => '/v1/tasks', { agent: 'clerk', input: 'Hi' }),
  },
  streamSessionChanges: {
    ...{ ...read, others: 'own', call: () => ({ path: '/v1/changes' }) },
  },
  streamTasks: { ...read, others: 'own', call: () => ({ path: '/v1/tasks/events' }) },
  getTask: { ...read, call: ({ task }) => ({ path: `/v1/tasks/${task}` }) },
  explainTask: { ...read, call: ({ task }) => ({ path: `/v1/tasks/${task}/explanation` }) },
  cancelTask: { ...chat, call: post(({ task }) => `/v1/tasks/${task}/cancel`) },
  suspendTask: { ...operate, call: post(({ task }) => `/v1/tasks/${task}/suspend`) },
  resumeTask: { ...operate, call: post(({ task }) => `/v1/tasks/${task}/resume`) },
  moveTaskToFront: { ...operate, call: post(({ task }) => `/v1/tasks/${task}/move-to-front`) },
  // The task of the matrix has not ended, so that those who may are told that.
  retryTask: { ...operate, status: 400, call: post(({ task }) => `/v1/tasks/${task}/retry`) },
  discardTask: { ...operate, status: 400, call: ({ task }) => ({ path: `/v1/tasks/${task}` }) },
  reprioritizeTask: {
    ...operate,
    call: post(({ task }) => `/v1/tasks/${task}/reprioritize`, { priority: 'low' }),
  },
  listTriggers: { ...read, others: 'own', call: () => ({ path: '/v1/triggers' }) },
  createTrigger: {
    ...operate,
    status: 201,
    others: 'own',
    ofOtherAgents: 404,
    call: post(() => '/v1/triggers', {
      ...{ name: 'daily', start: 'clerk', on: { kind: 'cron', pattern: '@daily' } },
    }),
  },
  previewSchedule: {
    ...read,
    others: 'own',
    call: post(() => '/v1/triggers/preview', { on: { kind: 'cron', pattern: '@daily' } }),
  },
  getTrigger: { ...read, call: trigger() },
  previewTrigger: { ...read, call: trigger('/preview') },
  listTriggerHistory: { ...read, call: trigger('/history') },
  updateTrigger: {
    ...operate,
    status: 200,
    call: post(({ trigger: name }) => `/v1/triggers/${name}`, { input: 'Hi' }),
  },
  pauseTrigger: { ...operate, call: post(({ trigger: name }) => `/v1/triggers/${name}/pause`) },
  // The trigger of the matrix fires, so that those who may are told that.
  resumeTrigger: {
    ...operate,
    status: 409,
    call: post(({ trigger: name }) => `/v1/triggers/${name}/resume`),
  },
  disableTrigger: { ...operate, call: post(({ trigger: name }) => `/v1/triggers/${name}/disable`) },
  fireTrigger: { ...operate, call: post(({ trigger: name }) => `/v1/triggers/${name}/fire`) },
  deleteTrigger: { ...operate, call: trigger() },
  // Without a signature. Those that have one: deliveries.test.ts.
  deliverWebhook: { ...open, status: 404, call: post(() => '/v1/triggers/none/deliveries') },
  publishEvent: {
    ...operate,
    others: 'own',
    ofOtherUsers: 403,
    ofStrangeUsers: 403,
    ofOtherAgents: 403,
    call: post(() => '/v1/events', { type: 'rain.ended' }),
  },
  sendNotice: {
    ...operate,
    others: 'own',
    ofOtherUsers: 403,
    call: post(() => '/v1/notices', { user: 'ann', title: 'Rain' }),
  },
  listNotices: {
    ...read,
    others: 'own',
    ofOtherUsers: 403,
    ofOtherAgents: 403,
    call: () => ({ path: '/v1/notices?user=ann' }),
  },
  // For people alone: notices.test.ts has those who are.
  streamNotices: {
    ...read,
    status: 403,
    others: 403,
    ofUsers: 200,
    ofOtherUsers: 200,
    ofStrangeUsers: 200,
    call: () => ({ path: '/v1/notices/stream' }),
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
  interruptSession: {
    ...operate,
    call: post(({ waiting }) => `/v1/sessions/${waiting}/interrupt`),
  },
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
  getOutline: { ...read, call: session('/outline') },
  getMoment: { ...read, call: session('/moment') },
  getPlans: { ...read, call: session('/plans') },
  getTree: { ...read, call: session('/tree') },
  listDecisions: { ...read, call: session('/decisions') },
  listFailures: { ...read, call: session('/failures') },
  getExplanation: { ...read, call: session('/explanation') },
  getTranscript: { ...read, call: session('/transcript') },
  replaySession: { ...read, call: post(({ done }) => `/v1/sessions/${done}/replay`) },
  exportSession: { ...read, call: session('/export') },
  compareSessions: { ...read, call: session('/difference?with=left-done') },
  getPrompt: { ...read, call: session('/prompts/5') },
  listAgents: { ...read, others: 'own', call: () => ({ path: '/v1/agents' }) },
  getAgent: {
    ...read,
    others: 'own',
    ofOtherAgents: 404,
    call: () => ({ path: '/v1/agents/clerk' }),
  },
  getToolUsage: { ...read, others: 'own', call: () => ({ path: '/v1/usage/tools' }) },
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
  listStanding: {
    ...read,
    call: session('/standing-approvals'),
  },
  // No approval of it holds for later calls.
  withdrawStanding: {
    ...operate,
    status: 400,
    call: post(({ request }) => `/v1/approvals/${request}/withdraw`),
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
  getMe: { ...read, others: 'own', call: () => ({ path: '/v1/me' }) },
  signIn: {
    ...open,
    status: 204,
    call: async ({ key }) => ({
      ...{ path: '/v1/sign-in', body: { credential: await key({ roles: ['viewer'] }) } },
    }),
  },
  signOut: { ...open, status: 204, call: post(() => '/v1/sign-out') },
  getHealth: { ...open, call: () => ({ path: '/v1/health' }) },
  getReadiness: { ...open, call: () => ({ path: '/v1/ready' }) },
  getMetrics: {
    ...read,
    tenant: 'default',
    others: 403,
    ofUsers: 403,
    call: () => ({ path: '/v1/metrics' }),
  },
  // The tests have no folder of reports: evals.test.ts has one.
  ...Object.fromEntries(
    [
      ['listEvals', ''],
      ['getEval', '/one'],
      ['compareEvals', '/one/comparison?with=other'],
    ].map(([operation, rest]): readonly [string, Entry] => [
      String(operation),
      {
        ...read,
        tenant: 'default',
        status: 409,
        others: 403,
        ofUsers: 403,
        call: () => ({ path: `/v1/evals${rest}` }),
      },
    ]),
  ),
  listAudit: {
    ...read,
    permission: 'audit',
    others: 'own',
    ofOtherAgents: 403,
    ofOtherUsers: 403,
    ofStrangeUsers: 403,
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
