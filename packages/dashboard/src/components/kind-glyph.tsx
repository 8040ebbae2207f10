import type { EventKind } from '../ledger/kinds.ts';
import styles from './kind-glyph.module.css';

/** One shape for each kind: it says what the colour says. */
const shapes: Readonly<Record<EventKind, React.ReactNode>> = {
  message: (
    <path
      d="M2.5 3.5h9v6h-5l-2.5 2v-2h-1.5z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinejoin="round"
    />
  ),
  model: (
    <path d="M7 1.8l1.3 3.9L12.2 7 8.3 8.3 7 12.2 5.7 8.3 1.8 7l3.9-1.3z" fill="currentColor" />
  ),
  tool: <rect x="2.5" y="2.5" width="9" height="9" rx="2" fill="currentColor" />,
  wait: <path d="M4.5 3v8M9.5 3v8" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />,
  state: (
    <path
      d="M2.5 4.2h9M2.5 7h9M2.5 9.8h9"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
    />
  ),
  decision: (
    <path
      d="M7 1.8L12.2 7 7 12.2 1.8 7z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinejoin="round"
    />
  ),
  control: <circle cx="7" cy="7" r="3.8" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  error: (
    <path
      d="M3.5 3.5l7 7M10.5 3.5l-7 7"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
    />
  ),
};

interface KindGlyphProps {
  readonly kind: EventKind;
  /** Said to screen readers; without one the glyph stands beside words. */
  readonly label?: string;
}

export function KindGlyph({ kind, label }: KindGlyphProps) {
  return (
    <span
      className={styles['glyph']}
      data-kind={kind}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <svg viewBox="0 0 14 14" aria-hidden="true">
        {shapes[kind]}
      </svg>
    </span>
  );
}
