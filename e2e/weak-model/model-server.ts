import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatRequest, promptOf } from './chat-prompt.ts';
import { contextSize, type WeakModel } from './weak-model.ts';

/** Tokens of an answer that nobody interrupts: this takes seconds on a machine with other work. */
const usualTokens = { text: 12, call: 40, 'loose call': 8, silence: 0 } as const;

/** The form in which the model answers one request. All that it says in this form is its own. */
export interface Manner {
  /**
   * `text`: as it likes. `call`: a call of `tool`, whose arguments a grammar holds to their schema.
   * `loose call`: a call of `tool`, whose arguments are text as it likes. `silence`: nothing, ever.
   * @default 'text'
   */
  readonly form?: 'text' | 'call' | 'loose call' | 'silence';
  readonly tool?: string;
  /** Words that the text begins with, so that the model goes on with them. */
  readonly begins?: string;
  /** @default 12 for a text, else 40 */
  readonly maxTokens?: number;
  /** @default 0 */
  readonly temperature?: number;
  /** True when the model does not end before `maxTokens`. @default false */
  readonly isEndless?: boolean;
  /** Pieces after which the connection breaks. @default never */
  readonly breaksAfter?: number;
}

/** A request that the model answers, for those who look on. */
export class Answering {
  readonly request: ChatRequest;
  readonly manner: Manner;
  #sent = '';

  constructor(request: ChatRequest, manner: Manner) {
    this.request = request;
    this.manner = manner;
  }

  /** The text that was sent until now. */
  get sent(): string {
    return this.#sent;
  }

  took(text: string): void {
    this.#sent += text;
  }
}

/** An OpenAI-compatible server on loopback in front of the model. */
export class ModelServer {
  readonly #model: WeakModel;
  readonly #answered: Answering[] = [];
  #manners: Manner[] = [];
  #waiting: ((answering: Answering) => void)[] = [];
  url = '';
  close: () => void = () => undefined;

  constructor(model: WeakModel) {
    this.#model = model;
  }

  /** All requests until now. */
  get answered(): readonly Answering[] {
    return this.#answered;
  }

  /** The forms of the next answers; those after them are text. */
  next(...manners: readonly Manner[]): void {
    this.#manners = [...manners];
  }

  /** Waits for the next request. */
  asked(): Promise<Answering> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async listen(): Promise<void> {
    const server = createServer((message, response) => {
      this.#take(message, response).catch((error: unknown) => {
        console.error(error);
        response.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    this.close = () => {
      server.closeAllConnections();
      server.close();
    };
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of message) body += String(chunk);
    const answering = new Answering(JSON.parse(body) as ChatRequest, this.#manners.shift() ?? {});
    this.#answered.push(answering);
    for (const resolve of this.#waiting.splice(0)) resolve(answering);
    const prompt = promptOf(answering.request);
    const { form = 'text', maxTokens = usualTokens[form] } = answering.manner;
    if (this.#model.count(prompt) + maxTokens > contextSize) {
      const error = { code: 'context_length_exceeded', message: 'The prompt is too long.' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
      return;
    }
    await this.#answer(answering, prompt, new Frames(response));
  }

  async #answer(answering: Answering, prompt: string, frames: Frames): Promise<void> {
    const { form = 'text', tool = '', begins = '', breaksAfter, ...manner } = answering.manner;
    if (form === 'silence') return;
    const isCall = form !== 'text';
    const schema = form === 'call' ? schemaOf(answering.request, tool) : undefined;
    let pieces = 0;
    const write = (text: string): void => {
      if (text === '') return;
      if (++pieces === breaksAfter) frames.breakOff();
      answering.took(text);
      frames.delta(isCall ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : text);
    };
    if (isCall) frames.call(tool);
    write(begins);
    const isCut = await this.#model.write(prompt + (isCall ? `${tool} ` : begins), {
      ...{ maxTokens: usualTokens[form], temperature: 0, ...manner, signal: frames.signal, write },
      ...(schema && { schema }),
    });
    const usage = [this.#model.count(prompt), this.#model.count(answering.sent)] as const;
    frames.end(isCut ? 'length' : isCall ? 'tool_calls' : 'stop', ...usage);
  }
}

function schemaOf({ tools = [] }: ChatRequest, name: string): object {
  const tool = tools.find((one) => one.function.name === name);
  if (tool === undefined) throw new Error(`The request offers no tool "${name}".`);
  return tool.function.parameters;
}

let ids = 0;

/** The frames of one answer. */
class Frames {
  readonly #response: ServerResponse;
  readonly #id = `answer-${++ids}`;
  readonly #gone = new AbortController();

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => this.#gone.abort());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  }

  /** Aborted when the caller has gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  #send(members: object): void {
    if (this.signal.aborted) return;
    const frame = { id: this.#id, object: 'chat.completion.chunk', ...members };
    this.#response.write(`data: ${JSON.stringify(frame)}\n\n`);
  }

  delta(delta: object | string): void {
    const content = typeof delta === 'string' ? { content: delta } : delta;
    const choice = { index: 0, delta: { role: 'assistant', ...content }, finish_reason: null };
    this.#send({ choices: [choice] });
  }

  call(name: string): void {
    const call = { index: 0, id: `call_${this.#id}`, type: 'function' };
    this.delta({ tool_calls: [{ ...call, function: { name, arguments: '' } }] });
  }

  breakOff(): void {
    this.#gone.abort();
    this.#response.destroy();
  }

  end(reason: string, promptTokens: number, completionTokens: number): void {
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    const total = promptTokens + completionTokens;
    const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    this.#send({ choices: [], usage: { ...usage, total_tokens: total } });
    if (!this.signal.aborted) this.#response.end('data: [DONE]\n\n');
  }
}
