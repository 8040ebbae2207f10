import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { createServer, connect as openSocket } from 'node:net';
import { json } from 'node:stream/consumers';
import { isAdjutantError, memoryStore, runtime } from 'adjutant';
import { eventually, testClock } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServeOptions, serve } from '../src/index.ts';

function emptyApp(): ReturnType<typeof runtime> {
  const app = runtime({ app: 'empty', store: memoryStore(), recover: 'manual' });
  onTestFinished(() => app.close());
  return app;
}

async function serving(options: ServeOptions = {}) {
  const listening = await serve(emptyApp(), { port: 0, ...options });
  onTestFinished(() => listening.close());
  return listening;
}

describe('serve', () => {
  test('listens on this machine alone, and says where', async () => {
    const { url, port, hostname } = await serving();
    expect({ url, hostname }).toEqual({ url: `http://127.0.0.1:${port}`, hostname: '127.0.0.1' });
    const response = await fetch(`${url}/v1/openapi.json`);
    expect(await response.json()).toMatchObject({ openapi: '3.1.0' });
  });

  test('says why it cannot listen', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const error = await serve(emptyApp(), { port }).catch((thrown: unknown) => thrown);
    expect(isAdjutantError(error, 'cannot_listen')).toBe(true);
    expect((error as Error).message).toBe(
      `The server cannot listen on 127.0.0.1, port ${port}: another program listens there; ` +
        'stop it, or choose another port.',
    );
  });

  test.each<[object, string]>([
    [{ port: 70_000 }, '`port` must be a number from 0 to 65535'],
    [{ port: '8787' }, '`port` must be'],
    [{ hostname: '' }, '`hostname` must be'],
    [{ requestTimeoutMs: 1 }, '`requestTimeoutMs` must be'],
    [{ shutdown: { graceMs: -1 } }, '`shutdown.graceMs` must be'],
    [{ shutdown: { signals: 'SIGTERM' } }, '`shutdown.signals` must be'],
    [{ shutdown: { patience: 1 } }, 'there is no option `shutdown.patience`'],
    [{ Port: 0 }, 'there is no option `Port` (did you mean `port`?)'],
    [
      { pubsub: {} },
      'the options are port, hostname, requestTimeoutMs, shutdown, processGuard, auth',
    ],
  ])('refuses %j', async (options, reason) => {
    const error = await serve(emptyApp(), options as ServeOptions).catch(
      (thrown: unknown) => thrown,
    );
    expect(isAdjutantError(error, 'invalid_server')).toBe(true);
    expect((error as Error).message).toContain(reason);
  });

  test.each([null, 8787, '8787'])('refuses %j in the place of options', async (options) => {
    const error = await serve(emptyApp(), options as ServeOptions).catch(
      (thrown: unknown) => thrown,
    );
    expect(isAdjutantError(error, 'invalid_server') && error.message).toContain(
      'the options must be an object',
    );
  });

  test('goes on with a connection whose last body was too long to be read', async () => {
    const { url } = await serving({ limits: { bodyBytes: 100 } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = async (method: string, body = ''): Promise<[number | undefined, boolean]> => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const request = openRequest(`${url}/v1/sessions`, { agent, method, headers }).end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await json(response);
      return [response.statusCode, request.reusedSocket];
    };
    expect(await ask('POST', 'x'.repeat(1_000_000))).toEqual([413, false]);
    expect(await ask('GET')).toEqual([200, true]);
    expect(await ask('POST', '{}')).toEqual([201, true]);
  });

  test('takes no connections any more when it is closed, also twice', async () => {
    const { url, close } = await serving();
    // Its connection stays open, and must not keep the server.
    await (await fetch(`${url}/v1/openapi.json`)).text();
    await Promise.all([close(), close()]);
    await expect(fetch(`${url}/v1/openapi.json`)).rejects.toThrow();
  });

  test('refuses methods that the platform has no requests for', async () => {
    const { url } = await serving();
    const request = openRequest(`${url}/v1/sessions`, { method: 'TRACE' }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const problem: unknown = await json(response);
    expect([response.statusCode, response.headers['content-type'], problem]).toMatchObject([
      405,
      'application/problem+json',
      { code: 'method_not_allowed' },
    ]);
  });

  test('gives the app back when it is asked to', async () => {
    const app = runtime({ app: 'empty' });
    const { close } = await serve(app, { port: 0 });
    await close({ closeApp: true });
    await expect(app.sessions.open()).rejects.toThrow(/closed/);
  });

  test('listens on other addresses only with credentials', async () => {
    const error = await serve(emptyApp(), { port: 0, hostname: '0.0.0.0' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(isAdjutantError(error, 'invalid_server')).toBe(true);
    expect((error as Error).message).toContain('may not listen on 0.0.0.0');
    const { url, port } = await serving({ hostname: '0.0.0.0', auth: { keys: true } });
    expect(url).toBe(`http://localhost:${port}`);
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401);
  });
});

/** A request whose body is on its way, so that the server waits for it. */
async function halfSent(
  url: string,
): Promise<{ readonly request: ClientRequest; readonly finish: () => Promise<IncomingMessage> }> {
  const request = openRequest(`${url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  });
  request.write('{"id":');
  await once(request, 'socket');
  await new Promise((resolve) => request.once('drain', resolve).write(' '.repeat(100_000)));
  const finish = async (): Promise<IncomingMessage> => {
    request.end('"late"}');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response;
  };
  return { request, finish };
}

describe('closing', () => {
  test('lets requests under way come to their end, and ends streams', async () => {
    const { url, close } = await serving();
    await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"followed"}',
    });
    const stream = await fetch(`${url}/v1/sessions/followed/stream`);
    const { finish } = await halfSent(url);
    const closed = close();
    expect(await stream.text()).toContain('event: decision');
    const response = await finish();
    expect({ status: response.statusCode, connection: response.headers.connection }).toEqual({
      status: 201,
      connection: 'close',
    });
    await closed;
    await expect(fetch(`${url}/v1/health`)).rejects.toThrow();
  });

  test('does not wait for connections that ask for nothing', async () => {
    const clock = testClock();
    const { port, close } = await serving({ shutdown: { graceMs: 3_600_000 }, ports: { clock } });
    const silent = openSocket(port, '127.0.0.1');
    await once(silent, 'connect');
    // Connected on this side is not yet accepted on the other one.
    await fetch(`http://127.0.0.1:${port}/v1/health`);
    const ended = once(silent, 'close');
    await eventually(close(), { clock });
    await ended;
    expect(clock.monotonic()).toBeLessThan(3_600_000);
  });

  test('cuts off what is not at its end when the grace is over', async () => {
    const { url, close } = await serving({ shutdown: { graceMs: 20 } });
    const { request } = await halfSent(url);
    const broken = once(request, 'error');
    await close();
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  test('by a signal gives the app back and then ends the process by the signal', async () => {
    const program = `
      import { memoryStore, runtime } from 'adjutant';
      import { serve } from '@adjutant/server';
      const app = runtime({ app: 'empty', store: memoryStore() });
      const close = app.close.bind(app);
      app.close = async () => { await close(); console.log('closed'); };
      const { url } = await serve(app, { port: 0, shutdown: { signals: true } });
      console.log(url);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    let output = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += text;
      if (output.endsWith('\n') && !output.includes('closed')) child.kill('SIGTERM');
    }
    expect(output).toMatch(/^http:\/\/127\.0\.0\.1:\d+\nclosed\n$/);
    expect(await exited).toEqual([null, 'SIGTERM']);
  });
});
