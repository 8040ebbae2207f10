import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ModelServer {
  /** As `ADJUTANT_MODEL` takes it. */
  readonly modelName: string;
  /** Resolves when the model is asked for its second answer, which it does not give. */
  readonly askedAgain: Promise<void>;
  /** Answers from now on. */
  release(): void;
  close(): void;
}

/**
 * A model that calls a tool, and then keeps its caller waiting: the moment at which a process is
 * killed is the same each time.
 */
export async function startModelServer(tool: string, args: object): Promise<ModelServer> {
  let isReleased = false;
  const askedAgain = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { messages } = JSON.parse(body) as { readonly messages: readonly { role: string }[] };
    const hasResult = messages.some(({ role }) => role === 'tool');
    if (hasResult && !isReleased) {
      askedAgain.resolve();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const call = { name: tool, arguments: JSON.stringify(args) };
    const delta = hasResult
      ? { role: 'assistant', content: 'It is done.' }
      : {
          role: 'assistant',
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: call }],
        };
    const chunk = { id: 'a1', object: 'chat.completion.chunk' };
    for (const choice of [
      { index: 0, delta, finish_reason: null },
      { index: 0, delta: {}, finish_reason: hasResult ? 'stop' : 'tool_calls' },
    ])
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    modelName: `openai-compatible:rehearsed@http://127.0.0.1:${port}/v1`,
    askedAgain: askedAgain.promise,
    release: () => {
      isReleased = true;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
