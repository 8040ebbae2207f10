import type { PubSub } from 'adjutant';

/**
 * Hands on messages between runtimes of one test, and loses those that `loses` chooses, as pub/sub
 * may.
 */
export function pubSub(loses: (message: string) => boolean = () => false): PubSub {
  const listeners = new Map<string, Set<(message: string) => void>>();
  return {
    publish: async (channel, message) => {
      if (!loses(message)) for (const listener of listeners.get(channel) ?? []) listener(message);
    },
    subscribe: async (channel, listener) => {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(listener));
      return async () => void all.delete(listener);
    },
    close: async () => undefined,
  };
}
