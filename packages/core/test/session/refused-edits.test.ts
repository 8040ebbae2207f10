import { type ForkOptions, runtime, sequence, step } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { clerkOf } from './clerk.ts';

describe('an edit is refused', () => {
  const long = 'x'.repeat(70_000);
  const wrong: readonly (readonly [string, unknown, string, RegExp])[] = [
    ['that is no object', 'x', 'invalid_run', /`edit` must be an object/],
    ['of an unknown kind', { model: 'x' }, 'invalid_run', /an object without `model`|`model`/],
    ['without a key', { state: [{ value: 1 }] }, 'invalid_run', /needs a `key`/],
    ['with neither value nor delete', { state: [{ key: 'a' }] }, 'invalid_run', /either a `value`/],
    [
      'with both',
      { state: [{ key: 'a', value: 1, delete: true }] },
      'invalid_run',
      /either a `value` or/,
    ],
    [
      'of one key twice',
      {
        state: [
          { key: 'a', value: 1 },
          { key: 'a', delete: true },
        ],
      },
      'invalid_run',
      /each key once/,
    ],
    ['that is no JSON', { state: [{ key: 'a', value: () => 1 }] }, 'invalid_run', /JSON/],
    ['that is too large', { state: [{ key: 'a', value: long }] }, 'invalid_run', /64 KiB/],
    [
      'of the temporary state',
      { state: [{ scope: 'temp', key: 'a', value: 1 }] },
      'invalid_run',
      /temp/,
    ],
    [
      'of an unknown scope',
      { state: [{ scope: 'team', key: 'a', value: 1 }] },
      'undeclared_scope',
      /team/,
    ],
    ['of a reserved key', { state: [{ key: 'update', value: 1 }] }, 'invalid_state', /reserved/],
    ['against the schema', { state: [{ key: 'looks', value: 'many' }] }, 'invalid_state', /looks/],
    ['of a prompt with nothing', { prompt: {} }, 'invalid_run', /`instructions`/],
    [
      'of an agent without instructions',
      { prompt: { agent: 'clerk', message: 'x' } },
      'invalid_run',
      /agent/,
    ],
    ['with an empty message', { prompt: { message: '' } }, 'invalid_run', /message/],
    [
      'with instructions that are too long',
      { prompt: { instructions: long } },
      'invalid_run',
      /64 KiB/,
    ],
    [
      'of an unknown agent',
      { prompt: { agent: 'clark', instructions: 'x' } },
      'unknown_runnable',
      /clark/,
    ],
    [
      'of a step',
      { prompt: { agent: 'quiet', instructions: 'x' } },
      'invalid_run',
      /"quiet" is a step/,
    ],
    [
      'of an answered message',
      { prompt: { message: 'x' } },
      'invalid_run',
      /has ended: fork at \d/,
    ],
  ];

  test.each(wrong)('%s', async (_name, edit, code, message) => {
    const { clerk } = clerkOf();
    const quiet = step({ name: 'quiet', execute: () => undefined });
    const app = runtime({
      app: 'edited',
      stateSchema: { session: { looks: z.number(), mood: z.string() } },
      runnables: [clerk, sequence({ name: 'both', runnables: [quiet] })],
    });
    await app.run(clerk, { session: 's', input: 'Colour?' });
    const options = { id: 'fork', edit } as ForkOptions;
    await expect(app.sessions.fork('s', options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect((await app.sessions.list({ id: 'fork' })).sessions).toEqual([]);
    await app.close();
  });

  test('when there is no message, and no agent that acted', async () => {
    const app = runtime({ app: 'edited' });
    await app.sessions.create({ id: 's' });
    for (const edit of [{ prompt: { message: 'x' } }, { prompt: { instructions: 'x' } }])
      await expect(app.sessions.fork('s', { edit })).rejects.toMatchObject({ code: 'invalid_run' });
    await app.close();
  });
});
