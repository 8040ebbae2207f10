import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Message {
  readonly role: string;
  readonly content: unknown;
}

interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Answer of the server: a tool call or a text. */
type Answer =
  | { readonly call: { readonly name: string; readonly args: object } }
  | { readonly text: string };

export interface ChatServer {
  /** As `--model` takes it. */
  readonly modelName: string;
  readonly requests: readonly ChatRequest[];
  /**
   * From now on, requests from this number on (from 1) are received and never answered;
   * `undefined`: all are answered.
   */
  hangFrom: number | undefined;
  /** Resolves when so many requests have come. */
  reached(count: number): Promise<void>;
  /** Resolves when a request that hangs has been given up by the client. */
  readonly givenUp: Promise<void>;
}

/**
 * A server that speaks OpenAI's streaming chat completions. `decide` is its model: it sees what a
 * model would see, no more.
 */
export async function startChatServer(
  decide: (request: ChatRequest) => Answer = addUpInvoices,
): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  const givenUp = Promise.withResolvers<void>();
  const server = createServer(async (message, response) => {
    if (message.url === '/api/tags') {
      response.end(JSON.stringify({ models: [{ name: 'accountant:latest' }, { name: 'qwen3' }] }));
      return;
    }
    let body = '';
    for await (const chunk of message) body += String(chunk);
    const request = JSON.parse(body) as ChatRequest;
    const number = requests.push(request);
    waiting.get(number)?.resolve();
    if (state.hangFrom !== undefined && number >= state.hangFrom) {
      response.on('close', () => givenUp.resolve());
      return;
    }
    if (message.url !== '/v1/chat/completions' || !request.stream) response.writeHead(400).end();
    else stream(response, decide(request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const state: ChatServer = {
    modelName: `openai-compatible:accountant@http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    hangFrom: undefined,
    reached(count) {
      if (requests.length >= count) return Promise.resolve();
      const reached = waiting.get(count) ?? Promise.withResolvers<void>();
      waiting.set(count, reached);
      return reached.promise;
    },
    givenUp: givenUp.promise,
  };
  return state;
}

function stream(response: ServerResponse, answer: Answer): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finishReason: string | null = null): void => {
    const chunk = {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'accountant',
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  if ('call' in answer) {
    const text = JSON.stringify(answer.call.args);
    const half = Math.floor(text.length / 2);
    send({
      tool_calls: [
        {
          index: 0,
          id: `call_${answer.call.name}`,
          type: 'function',
          function: { name: answer.call.name, arguments: text.slice(0, half) },
        },
      ],
    });
    send({ tool_calls: [{ index: 0, function: { arguments: text.slice(half) } }] });
    send({}, 'tool_calls');
  } else {
    for (const piece of answer.text.match(/.{1,7}/gs) ?? []) send({ content: piece });
    send({}, 'stop');
  }
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  response.write(
    'data: ' +
      `${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'accountant', choices: [], usage })}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}

/**
 * Adds up unpaid invoices: asks for the sum, then for the share of what it was told, then says what
 * it was told.
 */
function addUpInvoices({ messages }: ChatRequest): Answer {
  const goal = textOf(messages.find(({ role }) => role === 'user'));
  const results = messages
    .filter(({ role }) => role === 'tool')
    .map((message) => JSON.parse(textOf(message)) as Record<string, unknown>);
  const path = /\S+\.csv/.exec(goal)?.[0];
  const percent = /(\d+)%/.exec(goal)?.[1];
  const [sums, share] = results;
  if (sums === undefined) {
    const where = [{ column: 'status', op: '=', value: 'unpaid' }];
    return {
      call: {
        name: 'queryCsv',
        args: { path, where, aggregate: [{ fn: 'sum', column: 'amount' }], limit: 0 },
      },
    };
  }
  const total = Object.values(sums['aggregates'] as object)[0];
  if (share === undefined)
    return { call: { name: 'calculate', args: { expression: `${total} * ${percent} / 100` } } };
  return {
    text: `The unpaid invoices come to ${total}; ${percent}% of that is ${share['result']}.`,
  };
}

function textOf(message: Message | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { text?: string }) => part.text ?? '').join('')
    : '';
}
