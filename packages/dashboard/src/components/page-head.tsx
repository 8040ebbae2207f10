import styles from './page-head.module.css';

interface PageHeadProps {
  readonly title: string;
  readonly children?: React.ReactNode;
}

/** Head of a page: its name, figures and acts. */
export function PageHead({ title, children }: PageHeadProps) {
  return (
    <header className={styles['head']}>
      <h1>{title}</h1>
      {children}
    </header>
  );
}

/** Takes what is left of the width: what follows stands at the end. */
export function Space() {
  return <span className={styles['space']} />;
}
