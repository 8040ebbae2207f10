import { jsonText } from '../../components/copy/copied-text.ts';
import { visible } from '../../components/visible-text.ts';
import styles from './evals-page.module.css';

/** Characters of one text that are drawn: a report may have any. */
const longest = 20_000;

interface TextBlockProps {
  readonly title: string;
  readonly text: string | undefined;
}

/** A text of a report, with its hidden characters shown. */
export function TextBlock({ title, text }: TextBlockProps) {
  if (text === undefined) return null;
  const rest = text.length - longest;
  return (
    <section className={styles['text']} aria-label={title}>
      <h3>{title}</h3>
      <pre>
        <bdi>{visible(text.slice(0, longest))}</bdi>
      </pre>
      {rest > 0 ? <p className="faint">{rest} more characters</p> : null}
    </section>
  );
}

/** A value of a report as JSON. */
export function ValueBlock({ title, value }: { readonly title: string; readonly value: unknown }) {
  return value === undefined ? null : <TextBlock title={title} text={jsonText(value)} />;
}
