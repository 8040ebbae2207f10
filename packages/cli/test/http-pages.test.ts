/** Types the commands that README.md and the guide give to new users. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { eventually } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { bench, repositoryRoot } from './run-cli.ts';

/** The commands of the shell blocks below a heading, up to the next heading, in their order. */
function commandsBelow(page: string, heading: string): string[] {
  const text = readFileSync(join(repositoryRoot, page), 'utf8');
  const [, section = ''] = text.split(`${heading}\n`);
  const [own = ''] = section.split(/^#{1,6} /m);
  return [...own.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Typed {
  readonly child: ChildProcess;
  readonly output: { text: string };
  readonly finished: Promise<number | null>;
}

/** A terminal in which commands are typed, and an `adjutant` as an installation brings it. */
function terminal(folder: string): (command: string) => Typed {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'adjutant');
  writeFileSync(
    program,
    `#!/bin/sh\nexec "${process.execPath}" ` +
      `"${repositoryRoot}packages/cli/dist/main.js" "$@"\n`,
  );
  chmodSync(program, 0o755);
  const path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter);
  return (command) => {
    // A group of its own, so that what a shell or npm has started ends with it.
    const child = spawn('bash', ['-c', command], {
      cwd: repositoryRoot,
      detached: true,
      env: { PATH: path, HOME: folder, ADJUTANT_HOME: join(folder, 'data'), TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output.text += text));
    onTestFinished(() => end(child, 'SIGKILL'));
    return {
      child,
      output,
      finished: once(child, 'close').then(([code]) => code as number | null),
    };
  };
}

function end({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal);
}

test.each([
  ['README.md', '### Over HTTP'],
  ['docs/guide/http-server.md', '# An app over HTTP'],
])('the commands of %s serve, start, stream, approve and show', async (page, heading) => {
  const commands = commandsBelow(page, heading);
  const kinds = commands.map((command) =>
    ['show ', ' serve ', 'curl -N', '/approvals/', '/approvals', '/runs', '/sessions'].find(
      (kind) => command.includes(kind),
    ),
  );
  expect(new Set(kinds)).toEqual(
    new Set([' serve ', '/sessions', '/runs', 'curl -N', '/approvals', '/approvals/', 'show ']),
  );
  const type = terminal(bench().folder);
  const port = await freePort();
  let requestId = '';
  let stream: Typed | undefined;
  let served: Typed | undefined;
  for (const [index, written] of commands.entries()) {
    const command = written
      .replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
      .replace('<request>', requestId);
    const kind = kinds[index];
    if (kind === ' serve ') {
      served = type(`${command} --port ${port}`);
      const { output, child } = served;
      const isThere = (): boolean => output.text.includes('Try it in another terminal');
      await eventually(() => isThere() || child.exitCode !== null, {
        what: 'the server',
        patienceMs: 100_000,
      });
      expect(isThere(), output.text).toBe(true);
      continue;
    }
    if (kind === 'curl -N') {
      stream = type(command);
      const { output } = stream;
      await eventually(() => output.text.includes('event: tool_yield'), {
        what: 'the question',
        patienceMs: 100_000,
      });
      continue;
    }
    if (kind === 'show ')
      await eventually(() => stream?.output.text.includes('event: invocation_end') === true, {
        what: 'the end of the run',
        patienceMs: 100_000,
      });
    const { finished, output } = type(command);
    expect({ command, code: await finished, text: output.text }).toMatchObject({ code: 0 });
    if (kind === '/sessions') expect(output.text).toContain('"id":"first"');
    if (kind === '/runs') expect(output.text).toContain('"status":"accepted"');
    if (kind === '/approvals') requestId = /"requestId":"([^"]+)"/.exec(output.text)?.[1] as string;
    if (kind === '/approvals/') expect(output.text).toContain('"status":"answered"');
    if (kind === 'show ') expect(output.text).toContain('185.175');
  }
  expect(stream?.output.text).toContain('185.175');
  end((served as Typed).child, 'SIGTERM');
  await (served as Typed).finished;
  expect(served?.output.text).toContain('Ended. Runs that are open go on when it is served again.');
});
