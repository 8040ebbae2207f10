import { once } from 'node:events';
import { createServer } from 'node:net';
import { isAdjutantError, runtime } from 'adjutant';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServeOptions, serve } from '../src/index.ts';

function emptyApp(): ReturnType<typeof runtime> {
  const app = runtime({ app: 'empty' });
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
      `The server cannot listen on 127.0.0.1, port ${port}: another program listens there; stop it, or choose another port.`,
    );
  });

  test.each<[object, string]>([
    [{ port: 70_000 }, '`port` must be a number from 0 to 65535'],
    [{ port: '8787' }, '`port` must be'],
    [{ hostname: '' }, '`hostname` must be'],
    [{ shutdown: { grace: -1 } }, '`shutdown.grace` must be'],
    [{ shutdown: { signals: 'SIGTERM' } }, '`shutdown.signals` must be'],
    [{ shutdown: { patience: 1 } }, 'there is no option `shutdown.patience`'],
  ])('refuses %j', async (options, reason) => {
    const error = await serve(emptyApp(), options as ServeOptions).catch((thrown: unknown) => thrown);
    expect(isAdjutantError(error, 'invalid_server')).toBe(true);
    expect((error as Error).message).toContain(reason);
  });

  test('takes no connections any more when it is closed, also twice', async () => {
    const { url, close } = await serving();
    // Its connection stays open, and must not keep the server.
    await (await fetch(`${url}/v1/openapi.json`)).text();
    await Promise.all([close(), close()]);
    await expect(fetch(`${url}/v1/openapi.json`)).rejects.toThrow();
  });

  test('gives the app back when it is asked to', async () => {
    const app = runtime({ app: 'empty' });
    const { close } = await serve(app, { port: 0 });
    await close({ closeApp: true });
    await expect(app.session()).rejects.toThrow(/closed/);
  });
});
