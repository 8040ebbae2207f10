import { createContext, useContext } from 'react';
import type { Connection } from './changes.ts';

/** Context with the live connection of the page. */
export const LiveConnection = createContext<Connection>({
  state: 'connecting',
  reach: { state: 'reached' },
  retry: () => undefined,
});

export function useConnection(): Connection {
  return useContext(LiveConnection);
}
