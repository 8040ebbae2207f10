import { type Clock, systemTurns } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import type { WebSocket } from 'ws';
import type { StreamEnding } from '../event-stream.ts';
import type { FollowedStream } from '../followed.ts';
import type { SentFrame } from '../frame.ts';
import type { Encoding } from '../replay/telling.ts';

/** Ports of a socket. */
export interface ConnectionPorts {
  readonly clock: Clock;
  /** Milliseconds between two pings; who has not answered the one before is gone. */
  readonly heartbeatMs: number;
  readonly stream: FollowedStream;
  /** As for streams of server-sent events. */
  readonly endings: (whileOpen: AbortSignal) => readonly StreamEnding[];
  /** Carries out what the client said. */
  readonly carryOut: (text: string) => Promise<CommandOutcome>;
  /** Refuses what is no text. */
  readonly refuseBinary: () => CommandOutcome;
  readonly problem: (error: unknown) => SentFrame;
  readonly onClose: () => void;
  readonly onSent: () => void;
}

export interface CommandOutcome {
  /** The answer to the client. */
  readonly told: object;
  /** False if the message was no command: such ones pass no route, and so count nowhere else. */
  readonly isCommand: boolean;
}

/** Each frame as a message of its own. */
const messages: Encoding<readonly string[]> = {
  name: 'messages',
  text: ({ id, event, data }) =>
    JSON.stringify({ ...defined({ position: id }), ...data, type: event }),
  join: (texts) => [...texts],
  write: (frames) => frames.map((frame) => messages.text(frame)),
};

/** Bytes that may wait for a slow client; then its stream waits. */
const mostWaiting = 65_536;
/** Commands of a client that may wait; then no more are read. */
const mostCommands = 16;

/** Messages of one socket in a row that are no commands; then it is closed. */
const mostUnreadable = 100;

const normalClosure = 1_000;
const goingAway = 1_001;
const policyViolation = 1_008;
const internalError = 1_011;

/** A client that follows a session and says something to it, through one socket. */
export class SocketConnection {
  readonly #socket: WebSocket;
  readonly #ports: ConnectionPorts;
  readonly #gone = new AbortController();
  #commands = 0;
  #unreadable = 0;
  #lastCommand: Promise<void> = Promise.resolve();
  #cancelTimer: () => void = () => undefined;
  #isAlive = true;

  constructor(socket: WebSocket, ports: ConnectionPorts) {
    this.#socket = socket;
    this.#ports = ports;
    socket.on('close', () => this.#end());
    // A close follows.
    socket.on('error', () => undefined);
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('message', (data, isBinary) => this.#receive(String(data), isBinary));
  }

  open(): void {
    for (const { signal, note } of this.#ports.endings(this.#gone.signal)) {
      const stop = (): void => this.#socket.close(goingAway, note);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true, signal: this.#gone.signal });
    }
    this.#ping();
    this.#tell().catch(() => this.#socket.terminate());
  }

  async #tell(): Promise<void> {
    try {
      for await (const { written } of this.#ports.stream.follow(messages, this.#gone.signal)) {
        for (const text of written) {
          this.#ports.onSent();
          await this.#sendText(text);
        }
      }
      if (!this.#gone.signal.aborted) this.#socket.close(normalClosure);
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#send({ type: 'problem', problem: this.#ports.problem(error).data });
      this.#socket.close(internalError, 'The stream broke.');
    }
  }

  #send(message: object): Promise<void> | undefined {
    return this.#sendText(JSON.stringify(message));
  }

  /** Returns what to wait for when much is waiting already. */
  #sendText(text: string): Promise<void> | undefined {
    if (this.#socket.bufferedAmount < mostWaiting) {
      this.#socket.send(text, () => undefined);
      return undefined;
    }
    // Called back with an error as well when the socket closes.
    return new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }

  /** Commands are carried out in the order in which they came. */
  #receive(text: string, isBinary: boolean): void {
    this.#commands++;
    if (this.#commands >= mostCommands) this.#socket.pause();
    this.#lastCommand = this.#lastCommand.then(() => this.#carryOut(text, isBinary));
  }

  /** Never rejects: every error is sent to the client, and the next command is carried out. */
  async #carryOut(text: string, isBinary: boolean): Promise<void> {
    try {
      // A client may send thousands of commands at once: others have their turn between them.
      await systemTurns.pass();
      if (!this.#isOpen) return;
      const { told, isCommand } = isBinary
        ? this.#ports.refuseBinary()
        : await this.#ports.carryOut(text);
      await this.#send(told);
      this.#unreadable = isCommand ? 0 : this.#unreadable + 1;
      if (this.#unreadable >= mostUnreadable)
        this.#socket.close(policyViolation, 'Too many messages were no commands.');
    } catch (error) {
      await this.#send({ type: 'problem', problem: this.#ports.problem(error).data });
    } finally {
      this.#commands--;
      if (this.#commands < mostCommands) this.#socket.resume();
    }
  }

  get #isOpen(): boolean {
    return !this.#gone.signal.aborted && this.#socket.readyState === this.#socket.OPEN;
  }

  #ping(): void {
    const { clock, heartbeatMs } = this.#ports;
    this.#cancelTimer = clock.setTimer(heartbeatMs, () => {
      if (!this.#isAlive) {
        this.#socket.terminate();
        return;
      }
      this.#isAlive = false;
      this.#socket.ping(() => undefined);
      this.#ping();
    });
  }

  #end(): void {
    if (this.#gone.signal.aborted) return;
    this.#cancelTimer();
    this.#gone.abort();
    this.#ports.onClose();
  }
}
