import { describe, expect, test } from 'vitest';
import {
  type Permission,
  permissionsOfRole,
  type Role,
  roles,
} from '../../src/access/principal.ts';
import type { NewApiKey } from '../../src/index.ts';
import { type Inhabited, inhabited } from '../access/inhabited.ts';
import { type Call, type Entry, entries } from './access-entries.ts';

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
    // A caller without permission is told nothing else: not the form of a call, nor the data.
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
  const { done, waiting, run, waitingRun, request, operation, spareKey, task, trigger } = about;
  const ids = [waitingRun, run, waiting, done, request, operation, spareKey, task, trigger];
  const path = ids.reduce((made, id) => made.replace(`/${id}`, '/nothing'), call.path);
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
      ofStrangeUsers = others,
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
          : bound.user !== undefined
            ? ofStrangeUsers
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
