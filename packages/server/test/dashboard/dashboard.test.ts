import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runtime } from 'adjutant';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serve, server } from '../../src/index.ts';
import { ask, world } from '../access/caller.ts';

const script = `export const answer = ${JSON.stringify('x'.repeat(2_000))};`;
const index =
  '<!doctype html><html><head lang="en"><base href="/old/"><script src="./assets/a.js"></script>' +
  '</head></html>';

/** A folder as the build of the dashboard leaves it, and one that it must not lead out of. */
function builtPage({ isBuilt = true } = {}): string {
  const outside = mkdtempSync(join(tmpdir(), 'adjutant-page-'));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  const folder = join(outside, 'dist');
  mkdirSync(join(folder, 'assets', 'inner'), { recursive: true });
  writeFileSync(join(outside, 'secret.js'), 'secret');
  writeFileSync(join(folder, 'assets', 'inner', 'deep.js'), 'deep');
  writeFileSync(join(folder, 'assets', '.hidden.js'), 'hidden');
  writeFileSync(join(folder, 'assets', 'a-B_1.2.js'), script);
  writeFileSync(join(folder, 'assets', 'page.css'), 'main {}');
  writeFileSync(join(folder, 'assets', 'run.exe'), 'MZ');
  writeFileSync(join(folder, 'mark.svg'), '<svg/>');
  if (isBuilt) writeFileSync(join(folder, 'index.html'), index);
  return folder;
}

describe('the dashboard', () => {
  test.for([
    ...['/', '/now', '/sessions', '/sessions/a/b?at=7', '/compare?a=x', '/approvals/rq', '/tasks'],
    ...['/triggers', '/agents/clerk', '/evals', '/health', '/keys', '/audit'],
  ])('is at %s, for everybody, and asks for no credential', async (path) => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    const { status, headers, text } = await ask(api, `GET ${path}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(text).toBe(
      index.replace('<base href="/old/">', '').replace('"en">', '"en"><base href="/">'),
    );
  });

  test('runs and shows only what comes from the server, in no other page', async () => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    for (const path of ['/', '/assets/a-B_1.2.js', '/mark.svg']) {
      const { headers } = await ask(api, `GET ${path}`);
      const policy = headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
          ...["img-src 'self' data: blob:", "frame-ancestors 'none'", "form-action 'none'"],
        ]),
      );
      expect(policy?.join(' ')).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });

  test('has files whose names change with them, so that browsers keep them', async () => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    const js = await ask(api, 'GET /assets/a-B_1.2.js');
    expect([js.status, js.text]).toEqual([200, script]);
    expect(js.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(js.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const css = await ask(api, 'GET /assets/page.css');
    expect(css.headers.get('content-type')).toBe('text/css; charset=utf-8');
    const svg = await ask(api, 'GET /mark.svg');
    expect(svg.headers.get('content-type')).toBe('image/svg+xml');
    expect(svg.headers.get('cache-control')).toBe('no-cache');
  });

  test('is compressed for those who can read that, and not sent again unchanged', async () => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    const get = (headers: Record<string, string>): Promise<Response> =>
      api.fetch(new Request('http://localhost/assets/a-B_1.2.js', { headers }));
    const small = await get({ 'accept-encoding': 'br, gzip' });
    expect(small.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await small.arrayBuffer())).toString()).toBe(script);
    const plain = await get({ 'accept-encoding': 'gzip;q=0' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const etag = plain.headers.get('etag') as string;
    const again = await get({ 'if-none-match': `W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.for([
    ...['/assets/../../secret.js', '/assets/..%2f..%2fsecret.js', '/assets/%2e%2e%2fsecret.js'],
    ...['/assets/..%5c..%5csecret.js', '/assets/inner%2fdeep.js', '/assets/inner/deep.js'],
    ...['/assets/.hidden.js', '/assets/inner', '/assets/', '/assets', '/assets/none.js'],
    ...['/assets/run.exe', '/assets/a-B_1.2.js%00.css', '/..%2fsecret.svg', '/none.svg'],
    ...['/assets/%e0%a4%a', '/index.html', '/package.json', '/secret.js', '/other'],
  ])('leads nowhere else: %s', async (path) => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    const { status, body, text } = await ask(api, `GET ${path}`);
    expect([status, body?.code]).toEqual([404, 'route_not_found']);
    expect(text).not.toMatch(/secret'|^deep|^hidden/);
  });

  test.for(['POST', 'PUT', 'PATCH', 'DELETE'])('takes no %s', async (method) => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    for (const path of ['/', '/sessions', '/assets/page.css']) {
      const { status, headers } = await ask(api, `${method} ${path}`);
      expect([status, headers.get('allow')]).toEqual([405, 'GET']);
    }
  });

  test('answers HEAD without a body', async () => {
    const { api } = world({ dashboard: { folder: builtPage() } });
    expect(await ask(api, 'HEAD /sessions')).toMatchObject({ status: 200, text: '' });
  });

  test('lives below the path of the public address', async () => {
    const options = { publicUrl: 'https://a.example/agents/"x"' };
    const { api } = world({ dashboard: { folder: builtPage() }, ...options });
    const { text } = await ask(api, 'GET /sessions/one');
    expect(text).toContain('<base href="/agents/%22x%22/">');
  });

  test('says that it is being built while it is, and comes by itself', async () => {
    const folder = builtPage({ isBuilt: false });
    const { api } = world({ dashboard: { folder } });
    const before = await ask(api, 'GET /sessions/one');
    expect(before.status).toBe(503);
    expect(before.headers.get('refresh')).toBe('2');
    expect(before.headers.get('cache-control')).toBe('no-store');
    expect(before.text).toContain('is being built');
    expect((await ask(api, 'GET /v1/health')).status).toBe(200);
    writeFileSync(join(folder, 'index.html'), index);
    expect((await ask(api, 'GET /sessions/one')).status).toBe(200);
    writeFileSync(join(folder, 'index.html'), '<html><body>Another</body></html>');
    expect((await ask(api, 'GET /')).text).toBe('<base href="/"><html><body>Another</body></html>');
  });

  test('is not there when it is not wanted', async () => {
    const { api } = world({ dashboard: false });
    expect((await ask(api, 'GET /')).status).toBe(404);
    expect((await ask(api, 'GET /sessions')).status).toBe(404);
  });

  test('does not count as a call, for limits and for the audit log', async () => {
    const { api, key } = world({
      dashboard: { folder: builtPage() },
      limits: { requestsPerMinute: 2 },
    });
    for (let i = 0; i < 5; i++) expect((await ask(api, 'GET /')).status).toBe(200);
    const { body } = await ask(api, 'GET /v1/audit', { as: await key() });
    expect(body.entries).toEqual([]);
  });

  test('is read through links of its own folder only where they are files', async () => {
    const folder = builtPage();
    symlinkSync(join(folder, 'none.js'), join(folder, 'assets', 'gone.js'));
    const { api } = world({ dashboard: { folder } });
    expect((await ask(api, 'GET /assets/gone.js')).status).toBe(404);
  });

  test.for([
    [true, '`dashboard` must be false, or { folder }'],
    [{}, '`dashboard` must be'],
    [{ folder: '' }, '`dashboard.folder` must be a string that is not empty'],
    [{ folder: '/x', path: '/' }, 'no option `dashboard.path` (the options are folder)'],
  ])('cannot be %j', ([dashboard, reason]) => {
    const app = runtime({ app: 'shop' });
    onTestFinished(() => app.close());
    expect(() => server(app, { dashboard: dashboard as never })).toThrow(reason as string);
  });

  test('has an address, which `serve` tells', async () => {
    const app = runtime({ app: 'shop' });
    const folder = builtPage();
    const options = { port: 0, dashboard: { folder } };
    const one = await serve(app, options);
    const two = await serve(app, { ...options, publicUrl: 'https://a.example/agents' });
    const three = await serve(app, { port: 0, dashboard: false });
    onTestFinished(async () => {
      for (const listening of [one, two, three]) await listening.close();
      await app.close();
    });
    expect([one.page, two.page, three.page]).toEqual([
      `${one.url}/`,
      'https://a.example/agents/',
      undefined,
    ]);
    const raw = await fetch(`${one.url}/assets/..%2f..%2fsecret.js`);
    expect(raw.status).toBe(404);
    await raw.text();
    const page = await fetch(`${one.page}sessions/x`);
    expect(await page.text()).toContain('<base href="/">');
  });
});
