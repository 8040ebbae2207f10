import { agent, memoryStore, runtime } from 'adjutant';
import { StoreUnavailableError } from 'adjutant/errors';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type AdjutantServer, type FailedRequest, server } from '../../../src/index.ts';
import { changedStore } from '../../changed-store.ts';

const hostile = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** A line of its own with a colour, an override of the direction, and a separator of lines. */
const forged = '%0aFAKE%20line%1b%5b31m%e2%80%ae%e2%80%a8';

/** A server whose store is away, and says so in lines that somebody else has a say in. */
function withoutStore(onError?: (error: unknown, request?: FailedRequest) => void): AdjutantServer {
  const away = () =>
    Promise.reject(
      new StoreUnavailableError({
        store: 'far',
        reason: 'connection to "a\nFAKE\u001b[31m\u202e" is gone',
      }),
    );
  const store = changedStore(memoryStore(), () => ({
    head: away,
    request: away,
    requests: away,
    list: away,
  }));
  const app = runtime({
    app: 'shop',
    store,
    runnables: [agent({ name: 'clerk', model: scriptedModel([]) })],
    recover: 'manual',
  });
  const api = server(app, onError === undefined ? {} : { onError });
  onTestFinished(async () => {
    await api.close();
  });
  return api;
}

const get = (api: AdjutantServer, path: string) =>
  api.fetch(new Request(`http://localhost${path}`));

/** The warnings of this process while something is done. */
async function warningsOf(act: () => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = [];
  const hear = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', hear);
  await act();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', hear);
  return warnings;
}

test(
  'A12: every parameter of a path has the check that ids of sessions have, but for tokens of ' +
    'links, which nobody is told of',
  () => {
    const document = withoutStore().openApi() as {
      paths: Record<string, Record<string, { parameters?: readonly Parameter[] }>>;
    };
    type Parameter = {
      readonly in?: string;
      readonly name?: string;
      readonly schema?: { readonly pattern?: string; readonly maxLength?: number };
    };
    const unchecked = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters = [] }) =>
        parameters
          .filter((one) => one.in === 'path' && one.name !== 'token')
          .filter(
            ({ schema }) =>
              schema?.pattern === undefined ||
              new RegExp(schema.pattern).test('a\nb') ||
              schema.maxLength === undefined,
          )
          .map(({ name }) => `${path}: ${name}`),
      ),
    );
    expect(unchecked).toEqual([]);
  },
);

const paths = [
  'approvals/X',
  'sessions/X/stream',
  'sessions/s/runs/X/stream',
  'sessions/X/socket',
  'sessions/X',
  'agents/X',
  'keys/X',
  'sessions/X/events',
];

test.each(paths)(
  'A12: control characters in /v1/%s are refused before anything is asked of the store',
  async (pattern) => {
    const answer = await get(withoutStore(), `/v1/${pattern.replace('X', forged)}`);
    expect([400, 404, 405]).toContain(answer.status);
  },
);

test(
  'A12: neither a path nor an error writes lines of its own into warnings of ' + 'the process',
  async () => {
    const api = withoutStore();
    const warnings = await warningsOf(async () => {
      for (const path of [
        `/v1/approvals/${forged}`,
        '/v1/approvals/%e2%80%ae%e2%80%a8x',
        '/v1/sessions/%e2%80%ae%e2%80%a8x',
      ])
        await get(api, path);
    });
    expect(warnings.length).toBeGreaterThan(0);
    for (const warning of warnings) expect(warning).not.toMatch(hostile);
  },
);

test('A12: `onError` gets the path as it was sent, without its query', async () => {
  const seen: (FailedRequest | undefined)[] = [];
  const api = withoutStore((_error, request) => seen.push(request));
  await get(api, '/v1/sessions/%e2%80%ae%e2%80%a8x');
  await get(api, '/v1/sessions/x?after=1');
  expect(seen.map((request) => request?.path)).toEqual([
    '/v1/sessions/%e2%80%ae%e2%80%a8x',
    '/v1/sessions/x',
  ]);
});
