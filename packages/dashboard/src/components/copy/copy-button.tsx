import { Button } from '../button.tsx';
import { useCopying } from './use-copying.ts';

interface CopyButtonProps {
  readonly text: string | (() => string);
  /** @default 'Copy' */
  readonly children?: React.ReactNode;
}

/** Puts text on the clipboard, and says so itself: a dialog would hide a message of the page. */
export function CopyButton({ text, children = 'Copy' }: CopyButtonProps) {
  const { said, copy } = useCopying();
  return (
    <Button icon="copy" onPress={() => copy(typeof text === 'string' ? () => text : text)}>
      <span aria-live="polite">{said ?? children}</span>
    </Button>
  );
}
