/**
 * Carries messages between the processes of an app: what is streamed and never stored. It may lose
 * messages, or give them late; it gives those of one publisher in order. `adjutant/redis` has one.
 */
export interface PubSub {
  /** @throws when the message could not be handed over */
  publish(channel: string, message: string): Promise<void>;
  /** Resolves when messages arrive, with the way to end it. */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether messages reach others at the moment, as far as it knows. @default true */
  readonly isConnected?: boolean;
  /** Gives the connections back that it made itself. */
  close(): Promise<void>;
}
