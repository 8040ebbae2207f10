import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonValue } from 'adjutant';

/** A call that a model asks for. */
export interface AskedCall {
  readonly name: string;
  readonly args?: JsonValue;
}

/** An answer of the model, given as soon as it is called. */
export interface Turn {
  readonly thought?: string;
  /** The text, or the parts in which it is streamed. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly AskedCall[];
  readonly error?: ModelFailure;
}

export interface ModelFailure {
  readonly message: string;
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

/** A call of the model that the test answers piece by piece. */
export class ModelCall {
  readonly #response: ServerResponse;
  /** The messages of the prompt, as the model would see them. */
  readonly prompt: JsonValue;
  /** Resolves when the program has given the call up. */
  readonly givenUp: Promise<void>;

  constructor(prompt: JsonValue, response: ServerResponse) {
    this.prompt = prompt;
    this.#response = response;
    this.givenUp = once(response, 'close').then(() => undefined);
  }

  #send(part: object): void {
    this.#response.write(`${JSON.stringify(part)}\n`);
  }

  thinks(thought: string): void {
    this.#send({ thought });
  }

  says(text: string): void {
    this.#send({ text });
  }

  calls(name: string, args: JsonValue = {}): void {
    this.#send({ call: { name, args } });
  }

  fails(error: ModelFailure): void {
    this.#send({ error });
    this.#response.end();
  }

  ends(): void {
    this.#send({ finish: true });
    this.#response.end();
  }

  /** Gives a whole answer. */
  answers({ thought, text = [], calls = [], error }: Turn): void {
    if (error !== undefined) {
      this.fails(error);
      return;
    }
    if (thought !== undefined) this.thinks(thought);
    for (const part of typeof text === 'string' ? [text] : text) this.says(part);
    for (const call of calls) this.calls(call.name, call.args);
    this.ends();
  }
}

/** A call of a tool that the test answers. */
export class ToolCall {
  readonly #response: ServerResponse;
  readonly name: string;
  readonly args: JsonValue;

  constructor(name: string, args: JsonValue, response: ServerResponse) {
    this.name = name;
    this.args = args;
    this.#response = response;
  }

  progress(data: JsonValue): void {
    this.#response.write(`${JSON.stringify({ progress: data })}\n`);
  }

  /** Lets the tool write a line on the console of the program. */
  logs(line: string): void {
    this.#response.write(`${JSON.stringify({ log: line })}\n`);
  }

  returns(result: JsonValue): void {
    this.#response.end(`${JSON.stringify({ result })}\n`);
  }

  fails(error: string): void {
    this.#response.end(`${JSON.stringify({ error })}\n`);
  }

  /** Fails so that nobody knows what became of the call. */
  breaksOff(error: string): void {
    this.#response.end(`${JSON.stringify({ broken: error })}\n`);
  }
}

/** Real milliseconds after which a wait fails. Only a test that hangs meets it. */
const patienceMs = 60_000;

/** Parties that wait for calls, and calls that wait for a party. */
class Meeting<Call> {
  readonly #calls: Call[] = [];
  readonly #waiting: ((call: Call) => void)[] = [];

  arrives(call: Call): void {
    const first = this.#waiting.shift();
    if (first === undefined) this.#calls.push(call);
    else first(call);
  }

  /** @throws Error when no call comes for longer than any machine takes */
  async next(what: string): Promise<Call> {
    const first = this.#calls.shift();
    if (first !== undefined) return first;
    const { promise, resolve, reject } = Promise.withResolvers<Call>();
    const refuse = (): void => reject(new Error(`${what} was not called.`));
    const timer = setTimeout(refuse, patienceMs);
    this.#waiting.push(resolve);
    return promise.finally(() => clearTimeout(timer));
  }
}

/**
 * The model and the outside world of a program under test: a server of the test's own that the
 * agent of `fixtures/terminal` asks for its answers and the results of its tools.
 */
export class World {
  readonly address: string;
  readonly #turns: Turn[] = [];
  readonly #results = new Map<string, JsonValue | ((args: JsonValue) => JsonValue)>();
  readonly #models = new Meeting<ModelCall>();
  readonly #tools = new Map<string, Meeting<ToolCall>>();
  readonly close: () => void;

  constructor(address: string, close: () => void) {
    this.address = address;
    this.close = close;
  }

  /** Answers to the next calls of the model, before any that `modelCall` waits for. */
  script(...turns: readonly Turn[]): void {
    this.#turns.push(...turns);
  }

  /** The result of a tool from now on. */
  result(name: string, result: JsonValue | ((args: JsonValue) => JsonValue)): void {
    this.#results.set(name, result);
  }

  /** The next call of the model that the script does not answer. */
  modelCall(): Promise<ModelCall> {
    return this.#models.next('The model');
  }

  /** The next call of a tool without a fixed result. */
  toolCall(name: string): Promise<ToolCall> {
    return this.#meeting(name).next(name);
  }

  #meeting(name: string): Meeting<ToolCall> {
    const meeting = this.#tools.get(name) ?? new Meeting<ToolCall>();
    this.#tools.set(name, meeting);
    return meeting;
  }

  /** Answers a request of the program. */
  async take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of message) body += String(chunk);
    const asked = JSON.parse(body) as { prompt: JsonValue; name: string; args: JsonValue };
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
    if (message.url === '/model') this.#model(new ModelCall(asked.prompt, response));
    else this.#tool(new ToolCall(asked.name, asked.args, response));
  }

  #model(call: ModelCall): void {
    const turn = this.#turns.shift();
    if (turn === undefined) this.#models.arrives(call);
    else call.answers(turn);
  }

  #tool(call: ToolCall): void {
    const result = this.#results.get(call.name);
    if (result === undefined) this.#meeting(call.name).arrives(call);
    else call.returns(typeof result === 'function' ? result(call.args) : result);
  }
}

/** Starts the world of a program. */
export async function startWorld(): Promise<World> {
  let world: World | undefined;
  const server = createServer((message, response) => void world?.take(message, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  world = new World(`http://127.0.0.1:${port}`, () => {
    server.closeAllConnections();
    server.close();
  });
  return world;
}
