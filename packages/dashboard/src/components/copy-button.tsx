import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

interface CopyButtonProps {
  readonly text: string | (() => string);
  /** @default 'Copy' */
  readonly children?: React.ReactNode;
}

/** Milliseconds for which the button says how it went. */
const saidMs = 2_000;

/** Puts text on the clipboard, and says so itself: a dialog would hide a message of the page. */
export function CopyButton({ text, children = 'Copy' }: CopyButtonProps) {
  const [said, setSaid] = useState<string | undefined>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), saidMs);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setSaid('Copied');
    } catch {
      setSaid('The browser refuses: select the text');
    }
  };
  return (
    <Button icon="copy" onPress={() => void copy()}>
      <span aria-live="polite">{said ?? children}</span>
    </Button>
  );
}
