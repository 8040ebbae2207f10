import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Bench, bench, repositoryRoot } from '../run-cli.ts';

const deskFolder = join(import.meta.dirname, '../fixtures/desk');

/** Completes the last word in the folder of a user's app. */
async function complete({ run, folder }: Bench, ...words: string[]): Promise<string[]> {
  const env = { DESK_AGENTS: 'coder,support', DESK_STORE: join(folder, 'desk.db') };
  const { code, stdout, stderr } = await run(['complete-words', '--', ...words], {
    cwd: deskFolder,
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .flatMap((line) => line.split('\t', 1))
    .filter((word) => word !== '');
}

describe('words are completed', () => {
  test('commands, their flags and the values of these', async () => {
    const place = bench();
    expect(await complete(place, 'app')).toEqual(['approvals', 'approve']);
    expect(await complete(place, 'show', '--fo')).toEqual(['--follow']);
    expect(await complete(place, 'sessions', '--status', 'a')).toEqual([
      'active',
      'awaiting_input',
    ]);
    expect(await complete(place, 'keys', 're')).toEqual(['revoke']);
    expect(await complete(place, 'completion', '')).toEqual(['bash', 'zsh', 'fish', 'powershell']);
    expect(await complete(place, 'run', '--agent', '')).toEqual(['coder', 'support', 'billing']);
    expect(await complete(place, 'run', '--no-config', '--agent', '')).toEqual([]);
  });

  test('sessions by their endings, and requests', async () => {
    const place = bench();
    const env = { DESK_AGENTS: 'coder', DESK_STORE: join(place.folder, 'desk.db') };
    const { stdout } = await place.run(['run', 'Edit it'], { cwd: deskFolder, env });
    const request = /approve (req_\w+)/.exec(stdout)?.[1];
    const [last, ending, ...others] = await complete(place, 'show', '');
    expect([last, others]).toEqual(['last', []]);
    expect(ending).toMatch(/^\w{6}$/);
    expect(await complete(place, 'run', '--session', ending?.slice(0, 2) ?? '')).toEqual([ending]);
    expect(await complete(place, 'approve', 'req')).toEqual([request]);
    expect(await complete(place, 'show', '--server', 'http://127.0.0.1:1', '')).toEqual([]);
  });
});

test('the script of bash is one that bash reads, and completes', () => {
  const { folder } = bench();
  const program = join(folder, 'adjutant');
  const main = join(repositoryRoot, 'packages/cli/dist/main.js');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(folder, 'data'));
  const script =
    'source <(adjutant completion bash); COMP_WORDS=(adjutant sess); COMP_CWORD=1; _adjutant; ' +
    'echo "$COMPREPLY"';
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder },
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: 'sessions\n', stderr: '' });
});

test.each(['zsh', 'fish', 'powershell'])('there is a script for %s', async (shell) => {
  const { code, stdout } = await bench().run(['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toContain('adjutant complete-words -- ');
});

test('another shell is refused', async () => {
  expect(await bench().run(['completion', 'tcsh'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'adjutant: There is no completion for tcsh. Name one of bash, zsh, fish, powershell.\n',
  });
});

test('--quiet leaves out all but the answer, the questions and the errors', async () => {
  const { run } = bench();
  const quiet = await run(['run', 'What is 12 * 12?', '--quiet']);
  expect(quiet).toEqual({
    code: 0,
    stdout: '12 * 12 = 144.\n(rehearsal model: rules, not a language model)\n',
    stderr: '',
  });
  const asks = await run(['run', 'What is 2 + 2?', '--quiet', '--ask-before', 'calculate']);
  expect(asks.code).toBe(3);
  expect(asks.stdout).toMatch(/^\? asks for approval: calculate.*\n {2}adjutant approve /);
  expect((await run(['resume', 'nobody', '--quiet'])).stderr).toContain('There is no session');
});
