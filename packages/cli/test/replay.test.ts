import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, runtime } from 'adjutant';
import { readLedgerFile } from 'adjutant/replay';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { email, shopApp } from './fixtures/shop/shop-app.ts';
import { bench, type Finished, jsonLines } from './run-cli.ts';
import { shop, shopFolder } from './shop.ts';

describe('export and replay, with the app of adjutant.config.ts', () => {
  test(
    'keep a session as a file without its secrets, and find what the code does ' + 'otherwise',
    async () => {
      const { folder, run } = await shop();
      const file = join(folder, 'incident.json');
      const exported = await run([
        'export',
        'incident',
        '-o',
        file,
        '--redact',
        'email',
        '--redact-pattern',
        '/likes \\S+/i',
      ]);
      expect(exported).toMatchObject({ code: 0, stderr: '' });
      expect(exported.stdout).toMatch(
        /^incident: 11 events, 4 values taken out \(field email: 1, pattern .*, secret PORTAL_KEY: 1, sensitive_key: 1\), written to /,
      );
      const text = readFileSync(file, 'utf8');
      expect(
        [email, 'a key like no other', 'key-of-the-customer', '[31mred'].filter((value) =>
          text.includes(value),
        ),
      ).toEqual([]);

      expect(await run(['replay', file])).toEqual({
        code: 0,
        stderr: '',
        stdout: '✓ incident: 11 events replayed, no divergence.\n',
      });

      const changed = await run(['replay', file], { SHOP_PROMPT: 'Be brief.' });
      expect(changed).toMatchObject({ code: 1, stderr: '' });
      expect(changed.stdout).toMatch(
        /^✗ incident: the code no longer does what is recorded\.\n\nFirst divergence at event 3 \(run\): prompt\n/,
      );
      expect(changed.stdout).toMatch(
        /^ +- "Be kind\. The key of the portal is \[redacted\]\."\n +\+ "Be brief\. The key of the portal is \[redacted\]\."$/m,
      );
      expect(changed.stdout).not.toContain('a key like no other');
    },
  );

  test('its sessions are listed, shown and explained; --no-config leaves the app out', async () => {
    const { run, store } = await shop();
    expect((await run(['sessions'])).stdout).toContain('incident');
    expect((await run(['show'])).stdout).toContain('incident');
    expect(await run(['show', 'incident', '--tree'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('clerk') as string,
      stderr: '',
    });
    expect(await run(['explain', 'incident'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('incident') as string,
    });
    expect((await run(['show', 'incident', '--no-config'])).code).not.toBe(0);
    expect(
      await run(['show', 'incident', '--no-config', '--store', store, '--app', 'shop']),
    ).toMatchObject({ code: 0 });
  });

  test('replay a session of its store, as lines and as JSON', async () => {
    const { run } = await shop();
    expect(await run(['replay', 'incident'])).toMatchObject({
      code: 0,
      stdout: '✓ incident: 11 events replayed, no divergence.\n',
    });
    const renamed = await run(['replay', 'incident', '--json'], { SHOP_TOOL: 'lookUp' });
    expect(renamed.code).toBe(1);
    const [report, ...others] = jsonLines(renamed.stdout);
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      type: 'replay',
      session: 'incident',
      events: 2,
      divergence: { seq: 3, path: 'run', kind: 'prompt' },
    });
    expect(report?.['divergences']).toEqual([report?.['divergence']]);
    const same = jsonLines((await run(['replay', 'incident', '--json'])).stdout);
    expect(same).toEqual([
      {
        ...{ type: 'replay', session: 'incident', events: 11, divergence: null, divergences: [] },
        undeclaredSteps: [],
      },
    ]);
  });

  test('--until leaves out what comes later', async () => {
    const { run } = await shop();
    expect(
      await run(['replay', 'incident', '--until', '2'], { SHOP_PROMPT: 'Be brief.' }),
    ).toMatchObject({
      code: 0,
      stdout: '✓ incident: 2 events replayed, no divergence.\n',
    });
    expect(
      (await run(['replay', 'incident', '--until', '3'], { SHOP_PROMPT: 'Be brief.' })).code,
    ).toBe(1);
  });

  test('--live-tools runs the tools, --live-model asks the model', async () => {
    const { run } = await shop();
    expect((await run(['replay', 'incident', '--live-tools', '--live-model'])).stdout).toContain(
      'no divergence',
    );
  });

  test('the file is printed where no file is named, and nothing else with it', async () => {
    const { run, folder } = await shop();
    const { code, stdout, stderr } = await run(['export', 'incident']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^adjutant: incident: 11 events, 2 values taken out/);
    writeFileSync(join(folder, 'printed.json'), stdout);
    expect(await readLedgerFile(join(folder, 'printed.json'))).toMatchObject({
      session: 'incident',
      app: 'shop',
    });
    const said = jsonLines(
      (await run(['export', 'incident', '-o', join(folder, 'x.json'), '--json'])).stdout,
    );
    const removed = { 'secret PORTAL_KEY': 1, sensitive_key: 1 };
    expect(said).toEqual([
      { type: 'export', session: 'incident', events: 11, removed, file: join(folder, 'x.json') },
    ]);
    const misspelt = await run([
      'export',
      'incident',
      '-o',
      join(folder, 'x.json'),
      '--redact',
      'emial',
    ]);
    expect(misspelt.stdout).toContain(
      'sensitive_key: 1); nothing more by --redact emial, written to ',
    );
  });

  test(
    'another store with --store, another file with --config, no file with ' + '--no-config',
    async () => {
      const { run, start, store, folder } = await shop();
      const elsewhere = { SHOP_STORE: join(folder, 'empty.db') };
      expect(await run(['replay', 'incident'], elsewhere)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('no session "incident" of the app "shop"'),
      });
      expect((await run(['replay', 'incident', '--store', store], elsewhere)).code).toBe(0);

      mkdirSync(join(folder, 'src'));
      const config = join(folder, 'src/office.mjs');
      writeFileSync(
        config,
        `export { app as default } from ${JSON.stringify(join(shopFolder, 'adjutant.config.ts'))};\n`,
      );
      // The app behind that file is evaluated once in a process.
      const replayed = (): Promise<Finished> =>
        start(['replay', 'incident', '--config', config]).finished;
      expect(await replayed()).toMatchObject({ code: 0 });
      writeFileSync(
        config,
        'import { app } from ' +
          `${JSON.stringify(join(shopFolder, 'adjutant.config.ts'))};\nexport default { app: ` +
          `async () => app };\n`,
      );
      expect(await replayed()).toMatchObject({ code: 0 });

      const built = await run([
        'replay',
        'incident',
        '--no-config',
        '--store',
        store,
        '--app',
        'shop',
      ]);
      expect(built).toMatchObject({ code: 1, stdout: expect.stringContaining('clerk') });
    },
  );

  test('the sessions of the app are left alone', async () => {
    const { run, store } = await shop();
    const { app, clerk } = shopApp({ store: sqlite(store) });
    const open = app.run(clerk, { session: 'open', input: 'Go' });
    for await (const { type } of open) if (type === 'model_start') break;
    open.stop();
    await expect(open).rejects.toMatchObject({ code: 'run_stopped' });
    const before = (await app.sessions.open({ id: 'open', observe: false })).events.length;
    await app.close();
    for (const args of [
      ['export', 'incident'],
      ['replay', 'incident'],
      ['diff', 'incident', 'open'],
    ])
      await run(args);
    const after = await bench().run([
      'show',
      'open',
      '--events',
      '--json',
      '--store',
      store,
      '--app',
      'shop',
    ]);
    expect(jsonLines(after.stdout)).toHaveLength(before);
  });
});

describe('the agent of the command line', () => {
  test('is what is replayed where there is no other app', async () => {
    const { run, folder } = bench();
    await run(['--session', 'sum', 'What is 12 * 12?'], { cwd: folder });
    expect(await run(['replay', 'sum'], { cwd: folder })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ sum: \d+ events replayed/),
    });
    expect((await run(['export', 'sum', '-o', 'sum.json'], { cwd: folder })).code).toBe(0);
    expect((await run(['replay', './sum.json'], { cwd: folder })).code).toBe(0);
    const other = await run(['replay', 'sum.json', '--model', 'openai:gpt-5-mini'], {
      cwd: folder,
      env: { OPENAI_API_KEY: 'x' },
    });
    expect(other).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the model is openai:gpt-5-mini and was rehearsal:rules'),
    });
    expect(readdirSync(folder).sort()).toEqual(['data', 'sum.json']);
  });
});

describe('diff', () => {
  test('shows where two sessions part, and what each has there', async () => {
    const { run, folder } = bench();
    await run(['--session', 'a', 'What is 12 * 12?'], { cwd: folder });
    await run(['--session', 'b', 'What is 12 * 13?'], { cwd: folder });
    await run(['fork', 'a', '--at', '11', '--id', 'c'], { cwd: folder });
    const parted = await run(['diff', 'a', 'b'], { cwd: folder });
    expect(parted).toMatchObject({ code: 1, stderr: '' });
    expect(parted.stdout).toMatch(
      /^✗ a \(-\) and b \(\+\) part at event 2 of the first, event 2 of the second\.\n/,
    );
    expect(parted.stdout).toMatch(/^ +- "What is 12 \* 12\?"\n +\+ "What is 12 \* 13\?"$/m);
    const [record] = jsonLines((await run(['diff', 'a', 'b', '--json'], { cwd: folder })).stdout);
    expect(record).toMatchObject({
      type: 'diff',
      a: 'a',
      b: 'b',
      divergence: { seq: 2, kind: 'control_flow' },
    });
    await run(['export', 'a', '-o', 'a.json'], { cwd: folder });
    expect(await run(['diff', 'a', 'a.json'], { cwd: folder })).toMatchObject({
      code: 0,
      stdout: '✓ a and a.json do the same.\n',
    });
    expect(jsonLines((await run(['diff', 'a', 'a', '--json'], { cwd: folder })).stdout)).toEqual([
      { type: 'diff', a: 'a', b: 'a', divergence: null },
    ]);
  });
});

describe('nothing in a ledger can steer the terminal', () => {
  test('by what is replayed, compared, exported or drawn', async () => {
    const { run, folder } = bench();
    const store = join(folder, 'hostile.db');
    const evil = '\u001b]0;mine\u0007\u001b[2J\u009b2J\u202e';
    const app = runtime({ app: 'hostile', store: sqlite(store), recover: 'manual' });
    const turn = (id: string) => [
      { toolCalls: [{ name: `tool${evil}` }] },
      { text: `${evil}${id}` },
    ];
    const clerk = agent({ name: 'clerk', model: scriptedModel([...turn('one'), ...turn('two')]) });
    for (const id of ['one', 'two']) await app.run(clerk, { session: id, input: `${evil}${id}` });
    await app.close();
    const where = ['--store', store, '--app', 'hostile'];
    const shown = [
      ['diff', 'one', 'two'],
      ['replay', 'one'],
      ['export', 'one'],
      ['show', 'one', '--tree'],
      ['show', 'one', '--mermaid'],
    ];
    for (const args of shown) {
      const { stdout, stderr } = await run([...args, ...where]);
      expect(`${stdout}${stderr}`).toMatch(/clerk|tool|mine/);
      expect(`${stdout}${stderr}`).not.toMatch(/\p{Cc}(?<![\n\t])|\u202e/u);
    }
  });
});

test(
  'show draws the tree of a run with times, tokens and cost, and as a ' + 'Mermaid chart',
  async () => {
    const { run } = bench();
    await run(['--session', 'sum', 'What is 12 * 12?']);
    const { stdout } = await run(['show', 'sum', '--tree']);
    const lines = stdout.split('\n').map((line) => line.replace(/[\d.]+ m?s/g, 'T'));
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^● assistant agent completed \(T · [\d,]+ tokens · \$0\.00\) run_/),
      expect.stringMatching(/^ {2}◆ rehearsal:rules round 1 \(T · \d+ tokens · \$0\.00\)$/),
      '  ✓ calculate (T)',
      expect.stringMatching(/^ {2}◆ rehearsal:rules round 2 \(T · \d+ tokens · \$0\.00\)$/),
    ]);
    const chart = await run(['show', 'sum', '--mermaid']);
    expect(chart.stdout).toMatch(/^flowchart TB\n {2}n1\["✓ assistant<br\/>agent completed<br\/>/);
    expect(await run(['show', 'sum', '--mermaid', '--tree'])).toMatchObject({ code: 2 });
    expect(await run(['show', 'sum', '--mermaid', '--json'])).toMatchObject({ code: 2 });
  },
);
