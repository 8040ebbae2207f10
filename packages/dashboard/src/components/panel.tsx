import styles from './panel.module.css';

interface PanelProps {
  readonly title: string;
  /** Beside the title, faint. */
  readonly note?: React.ReactNode;
  /** At the end of the head. */
  readonly acts?: React.ReactNode;
  readonly children: React.ReactNode;
}

export function Panel({ title, note, acts, children }: PanelProps) {
  return (
    <section className={styles['panel']} aria-label={title}>
      <header className={styles['head']}>
        <h2>{title}</h2>
        {note === undefined ? null : <span className={styles['note']}>{note}</span>}
        <span className={styles['space']} />
        {acts}
      </header>
      {children}
    </section>
  );
}
