import { createContext, useContext, useEffect, useMemo, useState } from 'react';
import type { IconName } from '../components/icon.tsx';

/** Act that the palette offers. */
export interface Command {
  readonly name: string;
  readonly detail?: string;
  readonly icon: IconName;
  readonly keys?: readonly string[];
  readonly run: () => void;
}

interface Registry {
  readonly commands: readonly Command[];
  readonly set: (commands: readonly Command[]) => void;
}

const Offered = createContext<Registry>({ commands: [], set: () => undefined });

/** Keeps the acts of the page that is open, so that the palette can offer them first. */
export function Commands({ children }: { readonly children: React.ReactNode }) {
  const [commands, set] = useState<readonly Command[]>([]);
  const value = useMemo(() => ({ commands, set }), [commands]);
  return <Offered.Provider value={value}>{children}</Offered.Provider>;
}

/** Offers acts in the palette while the caller is shown. Give a list that changes seldom. */
export function useCommands(commands: readonly Command[]): void {
  const { set } = useContext(Offered);
  useEffect(() => {
    set(commands);
    return () => set([]);
  }, [commands, set]);
}

export function useOfferedCommands(): readonly Command[] {
  return useContext(Offered).commands;
}
