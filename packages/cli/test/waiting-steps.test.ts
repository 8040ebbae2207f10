import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { type Bench, bench, jsonLines, repositoryRoot } from './run-cli.ts';

const fixture = join(repositoryRoot, 'packages/cli/test/fixtures/waiting-steps.ts');
const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;

/** `adjutant serve` of an app whose step asks and sleeps. */
async function serveNews(place: Bench): Promise<string> {
  writeFileSync(join(place.folder, 'adjutant.config.ts'), `export { app } from '${fixture}';\n`);
  const env = { NEWS_STORE: join(place.folder, 'news.db') };
  const { child } = place.start(['serve', '--json', '--no-dashboard', '--port', '0'], {
    cwd: place.folder,
    env,
  });
  let text = '';
  child.stdout?.on('data', (more: string) => (text += more));
  await eventually(() => text.includes('\n'), { what: 'the server', patienceMs: 100_000 });
  return (jsonLines(text)[0] as { url: string }).url;
}

test('a step that asks and sleeps says so in the terminal, and is answered from there', async () => {
  const place = bench();
  const server = ['--server', await serveNews(place)];
  const on = (...words: string[]) => place.run([...words, ...server]);

  const asked = await on('run', '--agent', 'publish', '--session', 'news', 'Go');
  expect(asked.code).toBe(3);
  expect(asked.stdout).toMatch(
    new RegExp(`^\\? asks for approval: Publish it\\?, until ${time}$`, 'm'),
  );
  const approval = /adjutant approve (\S+)/.exec(asked.stdout)?.[1] as string;

  const approved = await on('approve', approval);
  expect(approved.code).toBe(3);
  expect(approved.stdout).toMatch(/^\? .*What do you think of it\?/m);
  expect(approved.stdout).toMatch(new RegExp(`sleeps until ${time}`));
  const question = /adjutant answer (\S+)/.exec(approved.stdout)?.[1] as string;
  const shown = (await on('show', 'news')).stdout;
  expect(shown).toMatch(new RegExp(`sleeps until ${time}`));
  // The question is still open.
  expect(shown).toContain('news · awaiting input');

  const answered = await on('answer', question, '"Shorter."');
  expect(answered).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('{"approved":true,"opinion":"Shorter."}'),
  });
  expect(await on('answer', question, '"Longer."')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('answered'),
  });
  expect((await on('show', 'news')).stdout).not.toContain('sleeps until');
});
