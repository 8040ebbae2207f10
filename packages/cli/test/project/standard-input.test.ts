import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChatServer } from '../chat-server.ts';
import { bench, repositoryRoot } from '../run-cli.ts';

/** A model that says what it was asked. */
const echo = () =>
  startChatServer(({ messages }) => ({
    text: `Asked: ${JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)}`,
  }));

test('a dash is the text of standard input', async () => {
  const { start } = bench();
  const { modelName } = await echo();
  const flags = ['--model', modelName];
  const alone = start(['run', '-', ...flags], { input: 'What is 2 + 2?\n' });
  expect((await alone.finished).stdout).toContain('Asked: "What is 2 + 2?"');
  const added = start(['run', 'Review this:', '-', ...flags], { input: 'a\nb\n' });
  expect((await added.finished).stdout).toContain(String.raw`Asked: "Review this:\n\na\nb"`);
  const nothing = await start(['run', '-', ...flags]).finished;
  expect(nothing).toMatchObject({ code: 2, stdout: '' });
  expect(nothing.stderr).toContain('The goal is missing.');
});

test('piped text and the text of a file are added to the goal', async () => {
  const { folder } = bench();
  const { modelName } = await echo();
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'Water the plants.\n');
  const main = join(repositoryRoot, 'packages/cli/dist/main.js');
  const command = `'${process.execPath}' '${main}' ` + `"Summarize" --model '${modelName}'`;
  for (const line of [`cat '${file}' | ${command}`, `${command} < '${file}'`]) {
    const child = spawn('sh', ['-c', line], {
      env: { PATH: process.env['PATH'], HOME: folder, ADJUTANT_HOME: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const chunk of child.stdout) text += String(chunk);
    expect(text).toContain(String.raw`Asked: "Summarize\n\nWater the plants."`);
  }
});
