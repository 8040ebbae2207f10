/**
 * Carries messages with live text between the processes of an app. It may lose or delay messages,
 * but keeps the order of each publisher. `adjutant/redis` has one.
 */
export interface PubSub {
  /**
   * Sends a message.
   * @throws when the message could not be sent
   */
  publish(channel: string, message: string): Promise<void>;
  /** Resolves when messages arrive, with the function that ends the subscription. */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** True when messages reach other processes at the moment, as far as it knows. @default true */
  readonly isConnected?: boolean;
  /** Closes the connections that it made itself. */
  close(): Promise<void>;
}
