import { agent, type Event, memoryStore, type OpenAiSettings, openai, runtime } from 'adjutant';
import { allowRealModels, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

// Providers are asked as in production; `fetch` is the test's.
allowRealModels();

interface Asked {
  readonly key: string | null;
  readonly effort: unknown;
  readonly model: unknown;
}

/** A provider that refuses as `refuse` says, and notes who asked for what. */
function provider(
  refuse: (asked: Asked) => { readonly status: number; readonly message: string } | undefined,
) {
  const asked: Asked[] = [];
  const frames = [
    {
      id: 'c',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }],
    },
    { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ];
  const send: typeof fetch = (_url, init) => {
    const body = JSON.parse(String(init?.body)) as {
      readonly model: unknown;
      readonly reasoning_effort?: unknown;
    };
    const call = {
      key: new Headers(init?.headers).get('authorization'),
      effort: body.reasoning_effort,
      model: body.model,
    };
    asked.push(call);
    const refusal = refuse(call);
    if (refusal !== undefined)
      return Promise.resolve(
        Response.json({ error: { message: refusal.message } }, { status: refusal.status }),
      );
    const text = [...frames.map((frame) => JSON.stringify(frame)), '[DONE]']
      .map((data) => `data: ${data}\n\n`)
      .join('');
    return Promise.resolve(
      new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
    );
  };
  const model = (id: string, settings: OpenAiSettings = {}) =>
    openai(id, {
      env: { OPENAI_API_KEY: 'sk-first-secret,sk-second-secret' },
      endpoints: [{ type: 'openai', api: 'chat' }],
      retry: { attempts: 1 },
      fetch: send,
      ...settings,
    });
  return { asked, model };
}

const fallbacks = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'decision' && event.component === 'models' && event.decision === 'fallback'
      ? [`${event.data?.['to']}`]
      : [],
  );

async function ask(model: Parameters<typeof agent>[0]['model'], message = 'Hi') {
  const clerk = agent({ name: 'clerk', model });
  const app = runtime({ app: 'ladder', store: memoryStore(), runnables: [clerk] });
  return { app, clerk, result: await app.run(clerk, message) };
}

test('a refused key is followed by the next one, and neither is recorded', async () => {
  const { asked, model } = provider(({ key }) =>
    key?.includes('first')
      ? { status: 401, message: 'Incorrect API key: sk-first-secret' }
      : undefined,
  );
  const { result } = await ask(model('gpt-4o'));
  expect(result).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(asked.map(({ key }) => key)).toEqual([
    'Bearer sk-first-secret',
    'Bearer sk-second-secret',
  ]);
  expect(fallbacks(result.session.events)).toEqual(['openai:gpt-4o, key 2']);
  expect(JSON.stringify(result.session.events)).not.toMatch(/sk-(first|second)/);
});

test('an overloaded model is asked for less reasoning before another one is asked', async () => {
  const { asked, model } = provider(({ model: id }) =>
    id === 'o3' ? { status: 503, message: 'overloaded' } : undefined,
  );
  const { result } = await ask([model('o3', { reasoning: { effort: 'high' } }), model('gpt-4o')]);
  expect(result).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(asked.map(({ model: id, effort }) => [id, effort])).toEqual([
    ['o3', 'high'],
    ['o3', 'medium'],
    ['o3', 'low'],
    ['gpt-4o', undefined],
  ]);
  expect(fallbacks(result.session.events)).toEqual([
    'openai:o3, medium effort',
    'openai:o3, low effort',
    'openai:gpt-4o',
  ]);
});

test(
  'a spent quota goes through the keys and then to the next model, without less ' + 'reasoning',
  async () => {
    const { asked, model } = provider(({ model: id }) =>
      id === 'o3'
        ? {
            status: 429,
            message: 'You exceeded your current quota, please check your plan and billing details.',
          }
        : undefined,
    );
    const { result } = await ask([
      model('o3', { reasoning: { effort: 'high' } }),
      scriptedModel([{ text: 'From another house' }]),
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'From another house' });
    expect(asked.map(({ key, effort }) => [key, effort])).toEqual([
      ['Bearer sk-first-secret', 'high'],
      ['Bearer sk-second-secret', 'high'],
    ]);
  },
);

test('when every way is used up, the error of the last one is that of the run', async () => {
  const { asked, model } = provider(() => ({ status: 401, message: 'no' }));
  const { result } = await ask([model('gpt-4o'), model('gpt-4.1')]);
  expect(result).toMatchObject({ status: 'error', error: { code: 'model_auth' } });
  expect(asked).toHaveLength(4);
});

test('a run that stopped goes on with the way that it had found', async () => {
  const first = provider(({ key }) =>
    key?.includes('first') ? { status: 401, message: 'no' } : undefined,
  );
  const { result } = await ask(first.model('gpt-4o'));
  const events = result.session.events;
  const fallback = events.findIndex(
    (event) => event.type === 'decision' && event.component === 'models',
  );
  const second = provider(() => undefined);
  const clerk = agent({ name: 'clerk', model: second.model('gpt-4o') });
  const app = runtime({ app: 'ladder', store: memoryStore(), runnables: [clerk] });
  const restored = await app.sessions.restore({
    ...result.session.toJSON(),
    events: events.slice(0, fallback + 1),
  });
  expect(await app.resume(restored)).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(second.asked.map(({ key }) => key)).toEqual(['Bearer sk-second-secret']);
});
