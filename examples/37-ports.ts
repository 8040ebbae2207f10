/**
 * Programs of other systems, written for this one: `ports/`. Each runs in a process of its own; the
 * lines are typed in when it asks for them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a port, answers each prompt with the next line, and gives what it printed. */
async function play(file: string, prompt: string, lines: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-port-'));
  const { OPENAI_API_KEY: _, ...env } = process.env;
  const port = spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, 'ports', file)],
    { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let printed = '';
  let answered = 0;
  port.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    const asked = printed.split(prompt).length - 1;
    for (; answered < Math.min(asked, lines.length); answered++)
      port.stdin.write(`${lines[answered]}\n`);
  });
  const code = await new Promise((resolve) => port.on('close', resolve));
  await rm(folder, { recursive: true });
  assert.equal(code, 0, `${file} ended with ${code}:\n${printed}`);
  assert.equal(answered, lines.length, `${file} asked ${answered} times:\n${printed}`);
  return printed;
}

const weather = await play('human-in-the-loop.ts', '(y/n): ', ['n', 'y']);
assert.match(weather, /Basic test agent would like to use get_temperature.*Oakland/);
assert.match(weather, /Basic test agent would like to use ask_weather_agent.*San Francisco/);
assert.match(weather, /Oakland: sunny, temperature withheld/);

console.log('ports: ok');
