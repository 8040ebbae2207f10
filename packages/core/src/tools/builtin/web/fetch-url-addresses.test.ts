import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
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

describe('addresses', () => {
  test.each([
    ...[
      'http://127.0.0.1/',
      'http://127.1/',
      'http://2130706433/',
      'http://0x7f000001/',
      'http://0177.0.0.1/',
      'http://0x7f.1/',
      'http://0/',
    ],
    ...[
      'http://10.0.0.1/',
      'http://192.168.0.1/',
      'http://172.16.0.1/',
      'http://100.64.0.1/',
      'http://169.254.169.254/',
      'http://224.0.0.1/',
    ],
    ...[
      'http://[::1]/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://[fd00:ec2::254]/',
    ],
    ...[
      'http://[fe80::1]/',
      'http://[2002:7f00:1::]/',
      'https://127.0.0.1/',
      'http://localhost/',
      'http://LOCALHOST/',
      'http://１２７.０.０.１/',
    ],
  ])('%s is refused before anything is sent', async (url) => {
    const result = await callTool(fetchUrl(), { url: url.replace(/\/$/, `:${port}/`) });
    expect(result).toMatchObject({
      status: 'error_blocked',
      errorType: 'ssrf_blocked',
      alternatives: expect.any(Array),
    });
    expect(asked).toEqual([]);
  });

  const resolvesTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  test(
    'a public name with a private address is refused, also when only one of its addresses is ' +
      'private',
    async () => {
      for (const addresses of [
        ['127.0.0.1'],
        ['93.184.216.34', '127.0.0.1'],
        ['::ffff:127.0.0.1'],
        ['169.254.169.254'],
        [],
      ]) {
        const made = fetchUrl({ resolve: resolvesTo(...addresses) });
        expect(await callTool(made, { url: `http://attacker.example:${port}/` })).toMatchObject({
          errorType: 'ssrf_blocked',
        });
      }
      expect(asked).toEqual([]);
    },
  );

  test(
    'a name is resolved once per connection, so that a second answer cannot lead ' + 'elsewhere',
    async () => {
      serve('/first', sends(302, { location: `http://rebinding.example:${port}/second` }));
      serve('/second', sends(200, { 'content-type': 'text/plain' }, 'secret'));
      const resolved: string[] = [];
      const resolve = async (hostname: string) => {
        resolved.push(hostname);
        return [{ address: '127.0.0.1', family: 4 }];
      };
      expect(await fetched(`${origin}/first`, { resolve })).toMatchObject({
        errorType: 'ssrf_blocked',
      });
      expect(
        await fetched(`http://allowed.example:${port}/second`, {
          resolve,
          allowHosts: ['Allowed.example'],
        }),
      ).toMatchObject({
        content: { text: 'secret' },
      });
      expect(resolved).toEqual(['rebinding.example', 'allowed.example']);
      expect(asked).toEqual(['GET /first', 'GET /second']);
    },
  );

  test(
    'an allowed host and port opens no other port, and allowing private addresses ' + 'opens all',
    async () => {
      serve('/', sends(200, { 'content-type': 'text/plain' }, 'ok'));
      expect(await fetched(`${origin}/`, { allowHosts: [`127.0.0.1:${port + 1}`] })).toMatchObject({
        errorType: 'ssrf_blocked',
      });
      expect(await fetched(`${origin}/`, { allowHosts: ['127.0.0.1'] })).toMatchObject({
        status: 'success',
      });
      expect(
        await fetched(`${origin}/`, { allowHosts: [], allowPrivateAddresses: true }),
      ).toMatchObject({ status: 'success' });
    },
  );

  test.each([
    ['file:///etc/passwd', 'url_refused'],
    ['ftp://example.com/', 'url_refused'],
    ['javascript:alert(1)', 'url_refused'],
    ['http://user@example.com/', 'url_refused'],
    ['http://:password@example.com/', 'url_refused'],
    ['example.com', 'invalid_url'],
    ['//example.com', 'invalid_url'],
    ['http://', 'invalid_url'],
    ['http://256.256.256.256/', 'invalid_url'],
  ])('%s is %s', async (url, errorType) => {
    expect(await callTool(fetchUrl(), { url })).toMatchObject({
      errorType,
      alternatives: expect.any(Array),
    });
  });

  test.each([
    {},
    { url: '' },
    { url: 5 },
    { url: 'http://x', method: 'POST' },
    { url: `http://x/${'y'.repeat(2_000)}` },
    { url: 'http://x', headers: {} },
  ])('arguments %j are refused', async (args) => {
    expect(await callTool(fetchUrl(), args)).toMatchObject({ errorType: 'validation_error' });
  });
});
