import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { callTool } from 'adjutant/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FetchUrlOptions, fetchUrl } from './fetch-url.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let port: number;
let origin: string;
let asked: string[] = [];
const answers = new Map<string, Answer>();

const sends =
  (status: number, headers: Record<string, string>, body: string | Buffer = ''): Answer =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
const serve = (path: string, answer: Answer) => {
  answers.set(path, answer);
  return `${origin}${path}`;
};
const redirect = (path: string, location: string, status = 302) =>
  serve(path, sends(status, { location }));

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`${request.method} ${path}`);
    (answers.get(path) ?? sends(404, {}))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  origin = `http://127.0.0.1:${port}`;
});

beforeEach(() => {
  asked = [];
  answers.clear();
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** May ask this test's server by its address, and nothing else that is private. */
const fetched = (url: string, options: FetchUrlOptions = {}, more: object = {}) =>
  callTool(fetchUrl({ allowHosts: [`127.0.0.1:${port}`], ...options }), { url, ...more });

describe('what is fetched', () => {
  test('text with status and type', async () => {
    const url = serve(
      '/page?q=1',
      sends(200, { 'content-type': 'text/html; charset=utf-8' }, '<h1>Grüße</h1>'),
    );
    expect(await fetched(`${url}#part`)).toEqual({
      status: 'success',
      content: {
        url: `${url}#part`,
        status: 200,
        contentType: 'text/html; charset=utf-8',
        text: '<h1>Grüße</h1>',
        truncated: false,
      },
    });
  });

  test('HEAD asks for no body', async () => {
    const url = serve(
      '/big.zip',
      sends(200, { 'content-type': 'application/zip', 'content-length': '9000000000' }),
    );
    expect(await fetched(url, {}, { method: 'HEAD' })).toMatchObject({
      content: { status: 200, contentType: 'application/zip', text: '' },
    });
    expect(asked).toEqual(['HEAD /big.zip']);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('%s is decompressed', async (encoding, compress) => {
    const url = serve(
      '/x',
      sends(200, { 'content-type': 'text/plain', 'content-encoding': encoding }, compress('hello')),
    );
    expect(await fetched(url)).toMatchObject({ content: { text: 'hello', truncated: false } });
  });

  test('the charset counts; one that nobody knows is taken for UTF-8', async () => {
    const latin = serve(
      '/l',
      sends(
        200,
        { 'content-type': 'text/plain; charset="ISO-8859-1"' },
        Buffer.from([0x47, 0x72, 0xfc, 0xdf]),
      ),
    );
    expect(await fetched(latin)).toMatchObject({ content: { text: 'Grüß' } });
    const odd = serve('/o', sends(200, { 'content-type': 'text/plain; charset=klingon' }, 'Grüß'));
    expect(await fetched(odd)).toMatchObject({ content: { text: 'Grüß' } });
  });

  test.each([
    'application/json',
    'application/problem+json',
    'image/svg+xml',
    'text/csv',
    'application/xhtml+xml',
  ])('%s is text', async (type) => {
    expect(await fetched(serve('/t', sends(200, { 'content-type': type }, '{}')))).toMatchObject({
      status: 'success',
    });
  });

  test('other types and binary data are refused', async () => {
    for (const type of ['image/png', 'application/pdf', 'application/octet-stream']) {
      const result = await fetched(serve('/b', sends(200, { 'content-type': type }, 'x')));
      expect(result).toMatchObject({
        status: 'error_permanent',
        errorType: 'unsupported_content',
        content: expect.stringContaining(type),
      });
    }
    expect(await fetched(serve('/n', sends(200, {}, Buffer.from([1, 0, 2]))))).toMatchObject({
      errorType: 'unsupported_content',
    });
    expect(await fetched(serve('/p', sends(200, {}, 'plain')))).toMatchObject({
      content: { text: 'plain', contentType: '' },
    });
    const odd = sends(200, { 'content-type': 'text/plain', 'content-encoding': 'zstd' }, 'x');
    expect(await fetched(serve('/z', odd))).toMatchObject({ errorType: 'unsupported_content' });
  });
});

describe('limits', () => {
  test('size, at a whole character', async () => {
    const url = serve('/long', sends(200, { 'content-type': 'text/plain' }, 'é'.repeat(5_000)));
    expect(await fetched(url, { maxBytes: 1_001 })).toMatchObject({
      content: { text: 'é'.repeat(500), truncated: true },
    });
    expect(await fetched(url, { maxBytes: 10_000 })).toMatchObject({
      content: { truncated: false },
    });
  });

  test('a stream without end is cut', async () => {
    const url = serve('/endless', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const result = await fetched(url, { maxBytes: 100_000 });
    expect(result).toMatchObject({ status: 'success', content: { truncated: true } });
    expect((result.content as { text: string }).text).toHaveLength(100_000);
  });

  test('a small body that unpacks to a huge one is cut', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 'a'), { level: 9 });
    const url = serve(
      '/bomb',
      sends(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, bomb),
    );
    const before = process.memoryUsage().arrayBuffers;
    const { content } = await fetched(url);
    expect((content as { text: string }).text.length).toBe(1_000_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });

  test('broken compression is a failure', async () => {
    const url = serve(
      '/broken',
      sends(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'no gzip'),
    );
    expect(await fetched(url)).toMatchObject({ status: 'error_permanent' });
  });

  test('time, counted over the whole; a slow server is told off by the clock', async () => {
    let fire = () => {};
    const clock = {
      now: () => 0,
      setTimer: (ms: number, task: () => void) => {
        expect(ms).toBe(1_234);
        fire = task;
        return () => {};
      },
    };
    const url = serve('/slow', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('first');
      fire();
    });
    expect(await fetched(url, { timeoutMs: 1_234, clock })).toMatchObject({
      status: 'timeout',
      errorType: 'timeout',
      content: expect.stringContaining('1234 ms'),
    });
  });

  test('an abort closes the connection', async () => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      serve('/hang', (request) => {
        request.socket.once('close', () => resolve());
        controller.abort();
      });
    });
    const made = fetchUrl({ allowPrivateAddresses: true });
    expect(
      await callTool(made, { url: `${origin}/hang` }, { signal: controller.signal }),
    ).toMatchObject({ errorType: 'aborted' });
    await closed;
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%i is followed, relative ones too', async (status) => {
    redirect('/a/from', '../to', status);
    serve('/to', sends(200, { 'content-type': 'text/plain' }, 'here'));
    expect(await fetched(`${origin}/a/from`)).toMatchObject({
      content: { url: `${origin}/to`, text: 'here' },
    });
  });

  test('five are followed, six are not', async () => {
    for (let i = 0; i < 6; i++) redirect(`/r${i}`, `/r${i + 1}`);
    serve('/r6', sends(200, { 'content-type': 'text/plain' }, 'end'));
    expect(await fetched(`${origin}/r1`)).toMatchObject({ content: { text: 'end' } });
    expect(await fetched(`${origin}/r0`)).toMatchObject({
      status: 'error_permanent',
      errorType: 'too_many_redirects',
    });
    expect(asked).not.toContain('GET /r7');
  });

  test.each([
    ['file', 'file:///etc/passwd', 'url_refused'],
    ['data', 'data:text/plain,x', 'url_refused'],
    ['ftp', 'ftp://example.com/x', 'url_refused'],
    ['credentials', 'http://user:secret@127.0.0.1/', 'url_refused'],
    ['loopback', 'http://127.0.0.1:1/secret', 'ssrf_blocked'],
    ['localhost', 'http://localhost:1/secret', 'ssrf_blocked'],
    ['metadata', 'http://169.254.169.254/latest/meta-data/', 'ssrf_blocked'],
    ['metadata in one number', 'http://2852039166/', 'ssrf_blocked'],
    ['IPv6 loopback', 'http://[::1]/', 'ssrf_blocked'],
    ['nonsense', 'http://[', 'invalid_url'],
  ])('to %s are refused', async (_, location, errorType) => {
    redirect('/from', location);
    const result = await fetched(`${origin}/from`);
    expect(result).toMatchObject({ errorType });
    expect(JSON.stringify(result)).not.toContain('user:secret');
    expect(asked).toEqual(['GET /from']);
  });
});

describe('failures', () => {
  test.each([
    [401, 'error_blocked'],
    [403, 'error_blocked'],
    [404, 'error_permanent'],
    [410, 'error_permanent'],
    [418, 'error_permanent'],
    [429, 'error_transient'],
    [500, 'error_transient'],
    [503, 'error_transient'],
  ])('HTTP %i is %s', async (status, expected) => {
    const url = serve(
      '/f?token=secret',
      sends(status, { 'content-type': 'text/html' }, '<p>no</p>'),
    );
    const result = await fetched(url);
    expect(result).toMatchObject({
      status: expected,
      errorType: `http_${status}`,
      alternatives: expect.any(Array),
      metadata: { status },
    });
    expect(result.content).toMatch(new RegExp(`^HTTP ${status} .* from ${origin}/f\\.$`));
  });

  test('what an API says of its failure is passed on, shortened', async () => {
    const url = serve(
      '/api',
      sends(
        422,
        { 'content-type': 'application/json' },
        `{"error":"no such city"${' '.repeat(5_000)}}`,
      ),
    );
    expect((await fetched(url)).content).toMatch(
      /^HTTP 422 Unprocessable Entity from .*: \{"error":"no such city"$/,
    );
  });

  test('a refused and a lost connection', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const closedPort = (gone.address() as AddressInfo).port;
    await new Promise((resolve) => gone.close(resolve));
    expect(
      await fetched(`http://127.0.0.1:${closedPort}/`, { allowPrivateAddresses: true }),
    ).toMatchObject({ errorType: 'connection_refused' });
    const lost = serve('/lost', (request) => request.socket.destroy());
    expect(await fetched(lost)).toMatchObject({ errorType: 'connection_lost' });
    const cut = serve('/cut', (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('begun', () => request.socket.destroy());
    });
    expect(await fetched(cut)).toMatchObject({
      status: 'error_transient',
      errorType: 'connection_lost',
    });
  });

  test('a name that does not exist', async () => {
    const resolve = async () =>
      Promise.reject(
        Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.example'), { code: 'ENOTFOUND' }),
      );
    expect(await callTool(fetchUrl({ resolve }), { url: 'http://nowhere.example/' })).toMatchObject(
      { errorType: 'host_not_found' },
    );
  });
});
