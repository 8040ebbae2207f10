import { join } from 'node:path';
import { type AdjutantServer, server } from '@adjutant/server';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Bench, bench, jsonLines } from './run-cli.ts';

const fixture = join(import.meta.dirname, 'fixtures/shop');

/** A server of the app of the command line, on its store. */
function serverOf({ store }: Bench): AdjutantServer {
  const app = runtime({ app: 'adjutant', store: sqlite(store), recover: 'manual' });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return api;
}

async function statusFor(
  api: AdjutantServer,
  credential: string,
  path = '/v1/keys',
): Promise<number> {
  const response = await api.fetch(
    new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${credential}` } }),
  );
  return response.status;
}

describe('adjutant keys', () => {
  test('makes a key, prints it alone on stdout, and nothing of it elsewhere', async () => {
    const place = bench();
    const { code, stdout, stderr } = await place.run([
      'keys',
      'create',
      '--name',
      'ci',
      '--role',
      'operator',
      '--expires',
      '30d',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^adj_[a-z0-9]{16}_[a-z0-9]{48}\n$/);
    const [, id = '', secret = ''] = stdout.trim().split('_');
    expect(stderr).toMatch(
      new RegExp(
        `the API key ${id} \\(ci\\), as operator of the tenant default, until .* It is ` +
          `shown only now\\.`,
      ),
    );
    const listed = await place.run(['keys', 'list']);
    expect(listed.stdout).toMatch(
      new RegExp(`^${id} +ci +operator of the tenant default +valid +\\d{4}-\\d\\d-\\d\\d`, 'm'),
    );
    for (const text of [
      stderr,
      listed.stdout,
      listed.stderr,
      (await place.run(['keys', 'list', '--json'])).stdout,
    ])
      expect(text).not.toContain(secret);
    const api = serverOf(place);
    expect(await statusFor(api, stdout.trim(), '/v1/sessions')).toBe(200);
    expect(await statusFor(api, stdout.trim())).toBe(403);
  });

  test('revokes and rotates what a server that is running accepts', async () => {
    const place = bench();
    const [made] = jsonLines(
      (await place.run(['keys', 'create', '--name', 'boss', '--role', 'admin', '--json'])).stdout,
    );
    const { credential, key } = made as { credential: string; key: { id: string } };
    const api = serverOf(place);
    expect(await statusFor(api, credential)).toBe(200);
    const rotated = (await place.run(['keys', 'rotate', key.id, '--grace', '0s'])).stdout.trim();
    expect([await statusFor(api, credential), await statusFor(api, rotated)]).toEqual([401, 200]);
    const revoked = await place.run(['keys', 'revoke', key.id]);
    expect(revoked).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`The API key ${key.id} (boss) is revoked.`),
    });
    expect(await statusFor(api, rotated)).toBe(401);
    expect(await place.run(['keys', 'rotate', key.id])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('has been revoked'),
    });
    expect((await place.run(['keys', 'list'])).stdout).toMatch(/ revoked /);
  });

  test('binds keys to a tenant, a user and agents', async () => {
    const place = bench();
    const scope = [
      '--tenant',
      'left',
      '--user',
      'ann',
      '--agent',
      'clerk',
      '--agent',
      'cook',
      '--role',
      'viewer',
      '--role',
      'auditor',
    ];
    await place.run(['keys', 'create', '--name', 'bound', ...scope]);
    await place.run(['keys', 'create', '--name', 'other', '--role', 'viewer']);
    expect(
      jsonLines((await place.run(['keys', 'list', '--tenant', 'left', '--json'])).stdout),
    ).toMatchObject([
      {
        name: 'bound',
        tenant: 'left',
        user: 'ann',
        agents: ['clerk', 'cook'],
        roles: ['viewer', 'auditor'],
        createdBy: 'operator',
      },
    ]);
  });

  test("works on the store of the user's app", async () => {
    const place = bench();
    const env = { SHOP_STORE: join(place.folder, 'shop.db') };
    const { stdout } = await place.run(['keys', 'create', '--name', 'ci', '--role', 'admin'], {
      cwd: fixture,
      env,
    });
    const app = runtime({ app: 'shop', store: sqlite(env.SHOP_STORE), recover: 'manual' });
    const api = server(app, { auth: {} });
    expect(await statusFor(api, stdout.trim())).toBe(200);
    await api.close();
    await app.close();
    expect(
      await place.run(['keys', 'create', '--name', 'ci', '--role', 'admin'], { cwd: fixture }),
    ).toMatchObject({
      ...{ code: 2, stdout: '' },
      stderr: expect.stringContaining('keeps everything in memory'),
    });
  });

  test('says that there are none, and how to make one', async () => {
    expect((await bench().run(['keys', 'list'])).stdout).toBe(
      'There are no API keys. Make one: adjutant keys create --name ci --role operator\n',
    );
  });

  test.for<[string[], string]>([
    [['create', '--role', 'viewer'], "required option '--name <text>' not specified"],
    [['create', '--name', 'x'], "required option '--role <role>' not specified"],
    [
      ['create', '--name', 'x', '--role', 'root'],
      'Allowed choices are viewer, user, auditor, operator, admin.',
    ],
    [
      ['create', '--name', 'x', '--role', 'viewer', '--expires', 'soon'],
      'It must be a number with a unit',
    ],
    [['create', '--name', 'x', '--role', 'viewer', '--expires', '0d'], '`expiresInMs` must be'],
    [
      ['create', '--name', 'x', '--role', 'viewer', '--tenant', 'adjutant:system'],
      "is the server's own",
    ],
    [['revoke', 'nothing'], 'There are no API keys yet.'],
    [['list', '--store', 'nowhere.db'], 'does not exist'],
  ])('%j is refused', async ([args, message]) => {
    const { run, folder } = bench();
    expect(await run(['keys', ...args], { cwd: folder })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
