import { memoryStore, runtime } from 'adjutant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { server } from '../../src/index.ts';
import { type Inhabited, inhabited, ledgersOf } from '../access/inhabited.ts';
import {
  type FuzzedOperation,
  type FuzzedRequest,
  fuzzedOperations,
  type OpenApiDocument,
} from './request-arbitrary.ts';

const requestsPerOperation = 100;
/** An answer that has not begun by then never will. */
const patienceMs = 60_000;

/** Answers that say that something cannot be done here at all. */
const allowedServerErrors: Readonly<Record<string, number>> = { openSocket: 501 };

let about: Inhabited;
let credential: string;
const errors: unknown[] = [];

/** Known values, by the names of parameters and properties. */
const known = {
  session: ['left-done', 'left-waiting', 'left-filming'],
  run: ['left-run-0', 'left-run-1', 'left-run-2'],
  agent: ['clerk', 'payer', 'director'],
  request: ['REQUEST'],
  requestId: ['REQUEST'],
  operationId: ['film-1'],
  key: ['SPAREKEY'],
  token: ['TOKEN'],
  user: ['ann'],
};

/** Ids that are others in each test. */
const standIns: Readonly<Record<string, (of: Inhabited) => string>> = {
  REQUEST: ({ request }) => request,
  SPAREKEY: ({ spareKey }) => spareKey,
  TOKEN: ({ link }) => link,
};

/** The request with the ids that there are. */
function standing(request: FuzzedRequest): FuzzedRequest {
  const fill = (text: string): string =>
    Object.entries(standIns).reduce(
      (filled, [name, idOf]) => filled.replaceAll(name, idOf(about)),
      text,
    );
  const { path, body } = request;
  return {
    ...request,
    path: fill(path),
    ...(typeof body === 'string' ? { body: fill(body) } : {}),
  };
}

/** Returns all that no refused request may change. */
async function everything(): Promise<unknown> {
  const tenants = await Promise.all(
    ['left', 'right', 'default', 'adjutant:system'].map((tenant) => ledgersOf(about.store, tenant)),
  );
  const keys = await about.store
    .for({ tenant: 'adjutant:system', app: 'shop:keys' })
    .head('api-keys');
  return [tenants, keys?.seq];
}

interface Outcome {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function answerTo({ method, path, headers, body }: FuzzedRequest): Promise<Outcome> {
  const signal = AbortSignal.timeout(patienceMs);
  const hung = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error(`${method} ${path} does not answer.`))),
  );
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return Promise.race([read(await Promise.race([about.api.fetch(request), hung])), hung]);
}

/** Reads an answer; of a stream, only its beginning. */
async function read(response: Response): Promise<Outcome> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream'))
    return { status: response.status, type, text: await response.text() };
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return { status: response.status, type, text: new TextDecoder().decode(value) };
}

/** Checks the form of an answer to any request. */
function checkAnswer({ operationId }: FuzzedRequest, { status, type, text }: Outcome): void {
  if (status >= 500 && status !== allowedServerErrors[operationId])
    throw new Error(`${status}: ${text}\n${errors.map(String).join('\n')}`);
  expect(text).not.toMatch(/\n\s+at .*\(|node_modules|packages\/(?:core|server)/);
  if (status < 400 || type.startsWith('text/html')) return;
  expect(type).toBe('application/problem+json');
  expect(JSON.parse(text)).toMatchObject({
    status,
    code: expect.stringMatching(/^[a-z_]+$/),
    title: expect.any(String),
    detail: expect.any(String),
  });
}

/** Waits until the runs have come to rest. */
async function atRest(): Promise<unknown> {
  let before = await everything();
  for (let same = 0; same < 3; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = await everything();
    same = JSON.stringify(now) === JSON.stringify(before) ? same + 1 : 0;
    before = now;
  }
  return before;
}

/** @returns the status of the answer */
async function checkRequest(request: FuzzedRequest): Promise<number> {
  const before = await everything();
  const outcome = await answerTo(request);
  checkAnswer(request, outcome);
  if (outcome.status < 400 || outcome.status >= 500 || isEqual(await everything(), before))
    return outcome.status;
  // It may have been a run that an earlier request began. What comes of the request itself, comes
  // of it again.
  const rested = await atRest();
  const again = await answerTo(request);
  if (again.status >= 400) expect(await atRest()).toEqual(rested);
  return outcome.status;
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

const document = server(
  runtime({ app: 'shop', store: memoryStore(), recover: 'manual' }),
).openApi() as OpenApiDocument;
const operations = fuzzedOperations(document, known);

describe(
  'whatever is asked, the server answers in time, never with a 5xx, and a refused request ' +
    'changes nothing',
  () => {
    test('in every operation of the document', () => {
      expect(operations.length).toBeGreaterThan(30);
    });

    test.for(operations.map(({ operationId }, index) => [operationId, index] as const))(
      '%s',
      async ([, index]) => {
        const { requests } = operations[index] as FuzzedOperation;
        errors.length = 0;
        about = await inhabited({ onError: (error) => errors.push(error) });
        // Metrics are of the whole process.
        credential = await about.key(
          operations[index]?.operationId === 'getMetrics' ? { tenant: 'default' } : {},
        );
        const statuses = new Set<number>();
        await fc.assert(
          fc.asyncProperty(
            requests,
            async (request) => void statuses.add(await checkRequest(standing(request))),
          ),
          { numRuns: requestsPerOperation },
        );
        // It would not say much if nothing but refusals had been seen, or no refusals.
        expect(statuses.size).toBeGreaterThan(0);
      },
    );
  },
);
