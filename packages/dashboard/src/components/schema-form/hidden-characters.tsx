import { visible } from '../visible-text.ts';
import styles from './hidden-characters.module.css';

interface HiddenCharactersProps {
  readonly id: string;
  /** Text of a field, as it is. */
  readonly text: string;
}

/**
 * Shows how the text of a field reads with signs for what is hidden in it, or turns it around. A
 * field cannot: it holds the text itself. Nothing is shown for text without such characters.
 */
export function HiddenCharacters({ id, text }: HiddenCharactersProps) {
  const shown = visible(text);
  if (shown === text) return null;
  return (
    <div id={id} className={styles['hidden']} role="alert">
      <p>The text has characters that are hidden, or turn it around. It reads:</p>
      <p dir="ltr" className={styles['text']}>
        {shown}
      </p>
    </div>
  );
}
