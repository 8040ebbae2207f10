import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PromptMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** An answer of the model. */
export interface Answer {
  readonly text?: string;
  readonly call?: { readonly name: string; readonly args: object };
  /** Called when the text is on its way. The answer ends when it resolves. @default at once */
  readonly until?: () => Promise<void>;
}

export interface ModelServer {
  /** As `ADJUTANT_MODEL` takes it. */
  readonly modelName: string;
  close(): void;
}

const chunk = { id: 'a1', object: 'chat.completion.chunk' };

function deltaOf({ text, call }: Answer): object {
  if (call === undefined) return { role: 'assistant', content: text };
  const called = { name: call.name, arguments: JSON.stringify(call.args) };
  return {
    role: 'assistant',
    tool_calls: [{ index: 0, id: 'c1', type: 'function', function: called }],
  };
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  const write = (delta: object, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  write(deltaOf(answer), null);
  await answer.until?.();
  write({}, answer.call === undefined ? 'stop' : 'tool_calls');
  response.end('data: [DONE]\n\n');
}

/**
 * A model that answers as a function says, and may keep its caller waiting: the moment at which a
 * process is interrupted or killed is the same each time.
 */
export async function startModelServer(
  answer: (messages: readonly PromptMessage[]) => Answer,
): Promise<ModelServer> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { messages } = JSON.parse(body) as { readonly messages: readonly PromptMessage[] };
    await send(response, answer(messages));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    modelName: `openai-compatible:rehearsed@http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
