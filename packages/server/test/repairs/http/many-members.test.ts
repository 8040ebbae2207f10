import { agent, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { server } from '../../../src/index.ts';

test(
  'A9: a body with an object of very many members is refused before anything is done with ' +
    'it; a long list is not',
  async () => {
    const app = runtime({
      app: 'shop',
      runnables: [agent({ name: 'clerk', model: scriptedModel([{ text: 'ok' }]) })],
    });
    const api = server(app);
    const start = (data: unknown) =>
      api.fetch(
        new Request('http://localhost/v1/runs', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ agent: 'clerk', input: 'hello', data }),
        }),
      );
    const members = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, i]));
    const refused = await start({ deep: [members] });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('more than 10000 members'),
    });
    expect((await start({ list: Array.from({ length: 20_000 }, (_, i) => i) })).status).toBe(202);
    await api.close();
    await app.close();
  },
);
