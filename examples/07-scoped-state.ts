/**
 * State in scopes: `session` for one conversation, `user` and `patient` shared by all sessions with
 * the same id, `temp` unrecorded.
 */
import assert from 'node:assert/strict';
import { runtime, type StateSchema, step } from 'adjutant';
import { z } from 'zod';

const stateSchema = {
  session: { mode: z.enum(['triage', 'consultation']), notes: z.array(z.string()) },
  user: { theme: z.enum(['light', 'dark']) },
  patient: { allergies: z.array(z.string()) },
} satisfies StateSchema;

const triage = step({
  name: 'triage',
  stateSchema,
  execute: (ctx) => {
    ctx.state.temp.draft = 'never recorded';
    ctx.state.update({ mode: 'consultation', notes: ['hay fever'] });
    ctx.state.patient.update('allergies', (known = []) => [...known, 'pollen']);
  },
});

const clinic = runtime({ app: 'clinic', stateSchema });
const morning = await clinic.sessions.open({
  id: 'morning',
  stateSchema,
  userId: 'dr-1',
  scopes: { patient: 'p-9' },
});
const changes: string[] = [];
morning.onStateChange(({ scope, source, changes: all }) => {
  for (const { key, oldValue, newValue } of all) {
    changes.push(
      `${scope}.${key} (${source}): ${JSON.stringify(oldValue)} -> ${JSON.stringify(newValue)}`,
    );
  }
});

morning.state.mode = 'triage';
morning.state.user.theme = 'dark';
await clinic.run(triage, { session: morning });
console.log(changes.join('\n'));

// Another session of the same user and patient sees what is shared, and nothing of the first
// session's own state.
const evening = await clinic.sessions.open({
  id: 'evening',
  stateSchema,
  userId: 'dr-1',
  scopes: { patient: 'p-9' },
});
console.log(
  `evening: theme ${evening.state.user.theme}, allergies ` +
    `${evening.state.patient.allergies}, mode ${evening.state.mode}`,
);

assert.deepEqual(changes, [
  'session.mode (mutation): undefined -> "triage"',
  'user.theme (mutation): undefined -> "dark"',
  'session.mode (mutation): "triage" -> "consultation"',
  'session.notes (mutation): undefined -> ["hay fever"]',
  'patient.allergies (mutation): undefined -> ["pollen"]',
]);
assert.equal(evening.state.user.theme, 'dark');
assert.deepEqual(evening.state.patient.allergies, ['pollen']);
assert.equal(evening.state.mode, undefined);

// Values are checked when they are written; a value that does not fit changes nothing. `undefined`
// deletes.
assert.throws(() => evening.state.user.update({ theme: 'pink' as 'dark' }), {
  code: 'invalid_state',
});
evening.state.user.theme = undefined;
assert.equal(evening.state.user.theme, undefined);
