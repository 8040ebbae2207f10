import { agent, memoryStore, runtime, type Session, step, tool } from 'adjutant';
import { eventually, scriptedModel, takingOver } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { RunPermissions } from '../../../src/engine/frame/grants.ts';

const look = step({ name: 'look', execute: () => undefined });

/** Permissions of a run of the session, as its first line finds them. */
function permissionsOf(session: Session, runId: string): readonly string[] {
  return new RunPermissions(session, runId, []).names;
}

test(
  'a session is granted permissions when it is made or opened, or later, and they are taken ' +
    'back',
  async () => {
    const store = takingOver(memoryStore());
    const app = runtime({ app: 'grants', store, recover: 'manual' });
    const session = await app.sessions.open({ id: 's', permissions: ['fs:read', 'web:*'] });
    await app.run(look, { session, runId: 'one' });
    expect(permissionsOf(session, 'one')).toEqual(['fs:read', 'web:*']);
    await app.sessions.grant('s', ['fs:write'], { by: 'operator:eve', reason: 'she asked for it' });
    await app.sessions.revoke(session, ['web:*']);
    await app.run(look, { session, runId: 'two' });
    expect(permissionsOf(session, 'two')).toEqual(['fs:read', 'fs:write']);
    // Opening it again with what it has says nothing again.
    const before = session.events.length;
    await app.sessions.open({ id: 's', permissions: ['fs:read'] });
    expect(session.events).toHaveLength(before);
    expect(
      session.events.filter(
        (event) => event.type === 'decision' && event.component === 'permissions',
      ),
    ).toMatchObject([
      { decision: 'grant', by: 'operator', data: { permissions: ['fs:read', 'web:*'] } },
      {
        decision: 'grant',
        by: 'operator:eve',
        reasoning: 'fs:write granted to the session: she asked for it',
        data: { permissions: ['fs:write'] },
      },
      { decision: 'revoke', by: 'operator', data: { permissions: ['web:*'] } },
    ]);
    expect(explain(session, { components: ['permissions'] }).map(({ what }) => what)).toEqual([
      'Permissions were granted: fs:read, web:*.',
      'Permissions were granted: fs:write.',
      'Permissions were taken back: web:*.',
    ]);
    await app.close();
    // Another process, and a fork, have them from the ledger.
    const other = runtime({ app: 'grants', store, recover: 'manual' });
    const again = await other.sessions.open({ id: 's', permissions: ['db:read'] });
    await other.run(look, { session: again, runId: 'three' });
    expect(permissionsOf(again, 'three')).toEqual(['fs:read', 'fs:write', 'db:read']);
    const fork = await other.sessions.fork('s', { at: before });
    expect(permissionsOf(fork, 'four')).toEqual(['fs:read', 'fs:write']);
    await other.close();
  },
);

test('a session that is created with permissions has them in every process', async () => {
  const store = takingOver(memoryStore());
  const app = runtime({ app: 'grants', store, recover: 'manual' });
  await app.sessions.create({ id: 's', permissions: ['fs:read'] });
  await app.close();
  const other = runtime({ app: 'grants', store, recover: 'manual' });
  const { session } = await other.run(look, { session: 's', runId: 'one' });
  expect(permissionsOf(session, 'one')).toEqual(['fs:read']);
  await other.close();
});

test(
  'a tool may be called with what the runtime, the session and the run ' + 'grant together',
  async () => {
    const used: string[] = [];
    const copy = tool({
      name: 'copy',
      description: 'Copies',
      schema: z.object({}),
      requiresPermission: ['fs:read', 'fs:write', 'net:send'],
      execute: ({ callId }) => {
        used.push(callId);
        return 'copied';
      },
    });
    const rounds = ['one', 'two', 'three', 'four'].flatMap((text) => [
      { toolCalls: [{ name: 'copy', args: {} }] },
      { text },
    ]);
    const clerk = agent({ name: 'clerk', model: scriptedModel(rounds), tools: [copy] });
    const app = runtime({ app: 'grants', permissions: ['fs:read'] });
    const session = await app.sessions.open({ permissions: ['net:*'] });
    await app.run(clerk, { session, input: 'Copy', runId: 'one' });
    expect(used).toEqual([]);
    await app.run(clerk, { session, input: 'Copy', runId: 'two', permissions: ['fs:write'] });
    expect(used).toEqual(['two/r1.0']);
    await app.run(clerk, { session, input: 'Copy', runId: 'three' });
    await app.sessions.grant(session, ['fs:*']);
    await app.sessions.revoke(session, ['net:*']);
    await app.run(clerk, { session, input: 'Copy', runId: 'four' });
    expect(used).toEqual(['two/r1.0']);
    const refused = explain(session, { components: ['permissions'] }).filter(
      ({ decision }) => decision === 'refuse',
    );
    expect(refused.map(({ run, why }) => [run, /fs:write|net:send/.exec(why)?.[0]])).toEqual([
      ['one', 'fs:write'],
      ['three', 'fs:write'],
      ['four', 'net:send'],
    ]);
  },
);

test('what a run is granted ends with it, and a fork of it has it', async () => {
  const app = runtime({ app: 'grants', store: memoryStore(), recover: 'manual' });
  const { session } = await app.run(look, { runId: 'one', permissions: ['fs:write'] });
  expect(session.events.filter(({ type }) => type === 'decision')).toMatchObject([
    {
      component: 'permissions',
      decision: 'grant',
      by: 'user',
      invocationId: 'one',
      data: { permissions: ['fs:write'] },
    },
  ]);
  expect(permissionsOf(session, 'one')).toEqual(['fs:write']);
  await app.run(look, { session, runId: 'two' });
  expect(permissionsOf(session, 'two')).toEqual([]);
  const fork = await app.sessions.fork(session.id, { at: 2 });
  expect(permissionsOf(fork, 'one')).toEqual(['fs:write']);
  await app.close();
});

test(
  'an open run gets what it is resumed with, once, and what is granted to its session while ' +
    'it works',
  async () => {
    const app = runtime({ app: 'grants', store: memoryStore(), recover: 'manual' });
    const gate = Promise.withResolvers<void>();
    const slow = step({ name: 'slow', execute: () => gate.promise });
    const run = app.run(slow, { session: 's', runId: 'one' });
    for await (const event of run) if (event.type === 'invocation_start') break;
    const joined = app.run(slow, { session: 's', input: 'Go on', permissions: ['fs:write'] });
    await app.sessions.grant('s', ['web:read']);
    const open = await app.sessions.open({ id: 's' });
    await eventually(() => permissionsOf(open, 'one').length === 2, { what: 'both permissions' });
    run.stop();
    await Promise.allSettled([run, joined]);
    gate.resolve();
    const { session } = await app.resume('s', { permissions: ['fs:write', 'db:*'] });
    expect([...permissionsOf(session, 'one')].sort()).toEqual(['db:*', 'fs:write', 'web:read']);
    await app.run(look, { session, runId: 'two' });
    expect(permissionsOf(session, 'two')).toEqual(['web:read']);
    await app.close();
  },
);

test.for([[['fs write']], [['fs:*:x']], [['']], [['*:write']], ['fs:write'], [[42]], [[]]])(
  '%j is no list of permissions',
  async ([given]) => {
    const permissions = given as readonly string[];
    const app = runtime({ app: 'grants' });
    await app.sessions.open({ id: 's' });
    await expect(app.sessions.grant('s', permissions)).rejects.toMatchObject({
      code: 'invalid_run',
    });
    await expect(app.sessions.revoke('s', permissions)).rejects.toMatchObject({
      code: 'invalid_run',
    });
    if (Array.isArray(given) && given.length === 0) return;
    await expect(app.sessions.open({ permissions })).rejects.toMatchObject({ code: 'invalid_run' });
    expect(() => app.run(look, { permissions })).toThrow('permissions such as');
    expect(() => runtime({ app: 'grants', permissions })).toThrow('permissions such as');
  },
);

test(
  'grants are a fold: what one process has seen in two parts is what another ' + 'sees at once',
  () => {
    const name = fc.constantFrom('a:x', 'a:y', 'a:*', 'b:x', '*');
    const change = fc.record({
      decision: fc.constantFrom('grant', 'revoke'),
      permissions: fc.array(name),
      invocationId: fc.constantFrom(undefined, 'r', 'q'),
    });
    fc.assert(
      fc.property(fc.array(change), fc.nat(20), (changes, cut) => {
        const events = changes.map(({ decision, permissions, invocationId }, i) => ({
          v: 1,
          seq: i + 1,
          id: `e${i}`,
          at: i,
          type: 'decision' as const,
          by: 'operator' as const,
          ...(invocationId === undefined ? {} : { invocationId }),
          component: 'permissions',
          decision,
          reasoning: 'test',
          data: { permissions },
        }));
        const seen = { events: events.slice(0, cut) };
        const inParts = new RunPermissions(seen, 'r', []);
        expect(inParts.names).toEqual(new RunPermissions(seen, 'r', []).names);
        seen.events = events;
        const whole = new RunPermissions({ events }, 'r', []).names;
        expect(inParts.names).toEqual(whole);
        // Nothing is granted that was not granted to the session or to this run.
        const given = events
          .filter(({ decision, invocationId }) => decision === 'grant' && invocationId !== 'q')
          .flatMap(({ data }) => data.permissions);
        expect(whole.every((granted) => (given as readonly string[]).includes(granted))).toBe(true);
        const last = events.at(-1);
        if (
          last?.decision === 'revoke' &&
          last.invocationId === undefined &&
          last.data.permissions.includes('*')
        )
          expect(whole).toEqual([]);
      }),
    );
  },
);
