/**
 * A store that is encrypted: two tenants with keys of their own, a new master key, a session that
 * is erased, a tenant that leaves.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, runtime, secret } from 'adjutant';
import { encrypted, type LocalKey, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));

// A secret manager would give these.
const of2025: LocalKey = {
  id: '2025',
  secret: secret('master key of 2025', 'kT3vX9qLr2mW8nZ5bJ7cH4dF6gS1pY0aVu'),
};
const of2026: LocalKey = {
  id: '2026',
  secret: secret('master key of 2026', 'Qe8Rw5Ty2Ui9Op3As6Df1Gh4Jk7Lz0XcVb'),
};
const ofGlobex: LocalKey = {
  id: 'globex-1',
  secret: secret('key of Globex', 'Zn4Mx7Bv1Cq9Lw2Kp8Js5Hd3Gf6Ra0TyEu'),
  tenant: 'globex',
};

function openStore(...keys: readonly LocalKey[]) {
  return encrypted(sqlite(join(folder, 'clinic.db')), { keys: localKeys({ keys }) });
}

function openApp(tenant: string, ...keys: readonly LocalKey[]) {
  // With a real model: model: openai('gpt-5-mini')
  const nurse = agent({
    name: 'nurse',
    model: scriptedModel([{ text: 'Please take 20 mg in the morning.' }]),
  });
  return {
    nurse,
    app: runtime({ app: 'clinic', tenant, store: openStore(...keys), runnables: [nurse] }),
  };
}

/** All bytes of the database. */
function storedBytes(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
}

for (const tenant of ['acme', 'globex']) {
  const { app, nurse } = openApp(tenant, ofGlobex, of2025);
  const { session, output } = await app.run(nurse, {
    session: 'patient-7',
    input: `How much do I take? (${tenant})`,
  });
  assert.equal(output, 'Please take 20 mg in the morning.');
  await app.sessions.fork(session.id, { id: 'patient-7-again' });
  await app.close();
}
assert.ok(!storedBytes().includes('20 mg'));
console.log('Nothing that was said can be found in the file.');

// A new master key. Everything goes on while the keys of the sessions are wrapped with it; then the
// old one is not needed any more.
const rotating = openStore(of2026, ofGlobex, of2025);
const { records, rewrapped } = await rotating.rotate({ tenant: 'acme', app: 'clinic' });
await rotating.close();
console.log(`${rewrapped} of ${records} key records of acme are wrapped with the key of 2026.`);
const after = openApp('acme', of2026);
const [first] = (await after.app.sessions.open({ id: 'patient-7' })).events;
assert.ok(first?.type === 'user' && first.text === 'How much do I take? (acme)');

// A patient asks to be forgotten: the keys of the session and of its forks are destroyed.
await after.app.sessions.erase('patient-7');
assert.deepEqual((await after.app.sessions.list()).sessions, []);
await after.app.close();

// Globex leaves, and its key with it.
const without = openApp('globex', of2026);
await assert.rejects(without.app.sessions.open({ id: 'patient-7' }), {
  code: 'key_unavailable',
  message: /"globex-1" of tenant "globex"/,
});
await without.app.close();
console.log('Without its key, nobody can read what Globex had.');
rmSync(folder, { recursive: true });
