import { createInterface } from 'node:readline';
import { openAgentApp } from '../app.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host.ts';
import type { Interruption } from '../interruption.ts';
import { styleFor } from '../output/style.ts';
import { carryOut, commandLine, type RunContext } from './carry-out.ts';

/** `adjutant chat`: one session, a run for each line. */
export async function chat(context: RunContext, sessionId: string | undefined): Promise<number> {
  const { host, interruption } = context;
  const { app, agent, announceStandIn } = await openAgentApp(host, context.options);
  const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true;
  const style = styleFor(host.stdout);
  let failed = false;
  try {
    const session = await app.session(sessionId === undefined ? {} : { id: sessionId });
    announceStandIn();
    if (isTerminal) host.stdout.write(`${style.dim('What is to be done? /exit or Ctrl-D ends.')}\n`);
    for await (const line of isTerminal ? typedLines(host, interruption) : createInterface({ input: host.stdin })) {
      const input = line.trim();
      if (input === '/exit' || input === '/quit') break;
      if (input === '') continue;
      const code = await carryOut(context, session, (options) => app.run(agent, { ...options, input, session }));
      if (interruption.exitCode !== undefined) return interruption.exitCode;
      failed ||= code !== exitCodes.ok;
    }
    if (isTerminal && session.events.length > 0)
      host.stdout.write(`${style.dim(`To go on later: ${commandLine(['chat', '--session', session.id], context.options)}`)}\n`);
    return interruption.exitCode ?? (failed && !isTerminal ? exitCodes.failed : exitCodes.ok);
  } finally {
    await app.close().catch(() => undefined);
  }
}

/** Lines from a terminal. Between the questions it is out of raw mode, so that Ctrl-C is a signal again. */
async function* typedLines(host: Host, interruption: Interruption): AsyncGenerator<string> {
  let history: string[] = [];
  for (;;) {
    const prompt = createInterface({ input: host.stdin, output: host.stdout, history });
    prompt.on('history', (entries) => {
      history = entries;
    });
    prompt.on('SIGINT', () => interruption.interrupt('SIGINT'));
    const line = await interruption.during(
      () => prompt.close(),
      () =>
        new Promise<string | undefined>((resolve) => {
          prompt.on('close', () => resolve(undefined));
          prompt.question('> ', resolve);
        }),
    );
    prompt.close();
    if (line === undefined) {
      host.stdout.write('\n');
      return;
    }
    yield line;
  }
}
