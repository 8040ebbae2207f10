/**
 * Programs of other systems, written for this one: `ports/`. Each runs in a process of its own; the
 * lines are typed in when it asks for them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a port, answers each prompt with the next line, and gives what it printed. */
async function play(
  file: string,
  prompt = '',
  lines: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-port-'));
  const { OPENAI_API_KEY: _, ...env } = process.env;
  const port = spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, 'ports', file)],
    { cwd: folder, env: { ...env, ...more }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let printed = '';
  let answered = 0;
  port.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    const asked = prompt === '' ? 0 : printed.split(prompt).length - 1;
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

// In the place of the search engine.
const searched: string[] = [];
const engine = createServer(async (request, response) => {
  searched.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).query);
  response.end('{"results":[{"title":"Jannik Sinner of Sexten wins"}]}');
}).listen(0, '127.0.0.1');
await once(engine, 'listening');
const { port } = engine.address() as AddressInfo;
const plan = await play('plan-and-execute.ts', '', [], { TAVILY_URL: `http://127.0.0.1:${port}` });
engine.close();
assert.deepEqual(searched, [
  'US Open winner',
  'Australian Open 2024 winner',
  'Jannik Sinner hometown',
]);
assert.match(plan, /output: 'Jannik Sinner is from Sexten\.'/);

const airline = await play('customer-service.ts', 'Enter your message: ', [
  'How many bags may I bring?',
  'I want to change my seat',
  'ABC123, 23A please',
  'exit',
]);
assert.match(airline, /FAQ Agent: You may bring one bag/);
assert.match(airline, /FAQ Agent: Calling transfer_to_Triage_Agent/);
assert.match(airline, /Triage Agent: Calling transfer_to_Seat_Booking_Agent/);
assert.match(airline, /Seat Booking Agent: You have seat 23A now/);
assert.match(airline, /"confirmationNumber": "ABC123",\s+"seatNumber": "23A"/);

// A workflow without a terminal: people answer through the app.
const home = process.cwd();
const folder = await mkdtemp(join(tmpdir(), 'adjutant-port-'));
process.chdir(folder);
const { app, headsUp } = await import('./ports/heads-up.ts');
let game = await app.run(headsUp, {
  session: await app.sessions.open({ userId: 'heads-up-game' }),
});
const said: string[] = [];
for (const input of ['Is it a scientist?', 'Marie Curie']) {
  const [asked] = await app.requests.list({ session: game.session.id, status: 'pending' });
  said.push(asked?.summary ?? '');
  await app.requests.answer(asked?.requestId ?? '', { input });
  game = await app.resume(headsUp, game.session, { runId: game.runId });
}
assert.deepEqual(game.output, { famousPerson: 'Marie Curie', gameWon: true, guessCount: 2 });
assert.equal(said[1], 'Yes.');
await app.close();
process.chdir(home);
await rm(folder, { recursive: true });

console.log('ports: ok');
