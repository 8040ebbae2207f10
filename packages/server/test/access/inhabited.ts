import { agent, memoryStore, pending, type Runtime, runtime, type Store, tool } from 'adjutant';
import { consoleChannel, noticeHub, notifications } from 'adjutant/notifications';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { every, triggers } from 'adjutant/triggers';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { ApiKeys, type NewApiKey } from '../../src/access/api-keys.ts';
import { type AdjutantServer, type ServerOptions, server } from '../../src/index.ts';

/** Belongings of the tenant `left`; others have nothing. */
export interface Inhabited {
  readonly app: Runtime;
  readonly store: Store;
  readonly api: AdjutantServer;
  /** Of the user `ann`: its run has ended. */
  readonly done: string;
  readonly run: string;
  /** Of the user `ann`: its run waits for leave to pay. */
  readonly waiting: string;
  readonly waitingRun: string;
  readonly request: string;
  /** Of the user `ann`: its run waits for the result of an operation. */
  readonly filming: string;
  readonly operation: string;
  /** Token in a link by which the request can be answered. */
  readonly link: string;
  /** Task of the user `ann` that waits for its turn. */
  readonly task: string;
  /** Trigger that starts work on behalf of the user `ann`. */
  readonly trigger: string;
  /** An API key that nobody uses. */
  readonly spareKey: string;
  key(asked?: Partial<NewApiKey>): Promise<string>;
  /** Head of each ledger of a tenant, and the items in its inbox. */
  ledgers(tenant?: string): Promise<Readonly<Record<string, string>>>;
  /** Amounts that were paid. */
  readonly paid: unknown[];
}

/** An app in which something has happened, with a server before it. */
export async function inhabited(options: ServerOptions = {}): Promise<Inhabited> {
  const store = memoryStore();
  const { agents, paid } = agentsOf();
  const app = runtime({
    app: 'shop',
    store,
    runnables: Object.values(agents),
    recover: 'manual',
    triggers: triggers(),
    notifications: notifications({ channels: [consoleChannel({ print: () => undefined })] }),
    approvals: { keys: [{ id: 'one', secret: 'k'.repeat(32) }] },
  });
  const left = app.tenants.get('left');
  const runs = await Promise.all(
    [agents.clerk, agents.payer, agents.director].map(async (runnable, index) => {
      const session = await left.sessions.create({
        id: `left-${['done', 'waiting', 'filming'][index]}`,
        userId: 'ann',
      });
      return left.run(runnable, { session, input: 'private words', runId: `left-run-${index}` });
    }),
  );
  const [done, waiting, filming] = runs as [(typeof runs)[0], (typeof runs)[0], (typeof runs)[0]];
  const { id: task } = await left.submit(agents.clerk, 'private words', { requester: 'ann' });
  const trigger = 'left-hourly';
  const own = { start: 'clerk', input: 'private words', requester: 'ann' };
  await left.triggers.create({ name: trigger, on: every('1h'), ...own });
  const api = server(app, {
    auth: {},
    notices: noticeHub(),
    limits: { requestsPerMinute: false, failuresPerMinute: 100_000 },
    ...options,
  });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const keys = new ApiKeys(app);
  const spare = await keys.create({
    name: 'spare',
    roles: ['viewer'],
    tenant: 'left',
    user: 'ann',
  });
  const request = waiting.pendingApprovals[0]?.requestId ?? '';
  return {
    link: `${await left.requests.token(request)}~${Buffer.from('left').toString('base64url')}`,
    ...{ app, store, api, paid },
    ...{
      done: done.session.id,
      run: done.runId,
      waiting: waiting.session.id,
      waitingRun: waiting.runId,
      filming: filming.session.id,
    },
    request,
    operation: 'film-1',
    task,
    trigger,
    spareKey: spare.key.id,
    key: async (asked) =>
      (await keys.create({ name: 'test', roles: ['admin'], tenant: 'left', ...asked })).credential,
    ledgers: (tenant = 'left') => ledgersOf(store, tenant),
  };
}

function agentsOf() {
  const paid: unknown[] = [];
  const pay = tool({
    ...{
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.number().int() }),
      approval: {},
    },
    execute: (ctx) => {
      paid.push(ctx.args);
      return 'paid';
    },
  });
  const film = tool({
    name: 'film',
    description: 'Films',
    schema: z.object({}),
    execute: () => pending({ operationId: 'film-1' }),
  });
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
  const payer = agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const director = agent({
    name: 'director',
    model: roundModel([{ toolCalls: [{ name: 'film', args: {} }] }, { text: 'Cut.' }]),
    tools: [film],
  });
  return { agents: { clerk, payer, director }, paid };
}

/**
 * Of every session of the served app: how far its ledger is and what was posted; and of every
 * request, how it stands.
 */
export async function ledgersOf(
  store: Store,
  tenant: string,
): Promise<Readonly<Record<string, string>>> {
  const ledgers = store.for({ tenant, app: 'shop' });
  const state: Record<string, string> = {};
  for (const { id } of await ledgers.list({ limit: 10_000 })) {
    const head = await ledgers.head(id);
    state[id] = `${head?.seq} ${head?.inboxSeq}`;
  }
  for (const { requestId, status } of await ledgers.requests({ limit: 10_000 }))
    state[requestId] = status;
  return state;
}
