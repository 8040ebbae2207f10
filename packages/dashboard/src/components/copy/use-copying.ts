import { useCallback, useEffect, useState } from 'react';

/** Milliseconds for which a button says how it went. */
const saidMs = 2_000;

/** Puts text on the clipboard, and says for a moment how it went. */
export function useCopying(): {
  readonly said: string | undefined;
  readonly copy: (text: () => string | Promise<string>) => void;
} {
  const [said, setSaid] = useState<string | undefined>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), saidMs);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = useCallback((text: () => string | Promise<string>) => {
    const write = async (): Promise<void> => {
      let words: string;
      try {
        words = await text();
      } catch {
        return setSaid('Not read: try again');
      }
      try {
        await navigator.clipboard.writeText(words);
        setSaid('Copied');
      } catch {
        setSaid('The browser refuses: select the text');
      }
    };
    void write();
  }, []);
  return { said, copy };
}
