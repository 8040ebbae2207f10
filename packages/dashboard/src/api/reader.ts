import { createContext, useContext } from 'react';
import type { Me } from './me.ts';

/** Context with the person who reads the page. */
export const Reader = createContext<Me | undefined>(undefined);

export function useReader(): Me | undefined {
  return useContext(Reader);
}
