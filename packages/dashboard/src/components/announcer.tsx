import { createContext, useCallback, useContext, useState } from 'react';

const Announce = createContext<(words: string) => void>(() => undefined);

/** Tells screen readers what happened beside the reader's place: nothing else is announced. */
export function Announcer({ children }: { readonly children: React.ReactNode }) {
  const [words, setWords] = useState('');
  const announce = useCallback((said: string) => setWords(said), []);
  return (
    <Announce.Provider value={announce}>
      {children}
      <div className="only-read" role="status" aria-live="polite">
        {words}
      </div>
    </Announce.Provider>
  );
}

export function useAnnounce(): (words: string) => void {
  return useContext(Announce);
}
