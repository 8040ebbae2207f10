import styles from './facts.module.css';

/** Name of a thing at the top of its drawer. */
export function DrawerTitle({ children }: { readonly children: React.ReactNode }) {
  return (
    <h2 className={styles['title']}>
      <bdi>{children}</bdi>
    </h2>
  );
}

/** Facts about a thing: names on the left, what they are on the right. */
export function Facts({ children }: { readonly children: React.ReactNode }) {
  return <dl className={styles['facts']}>{children}</dl>;
}

interface FactProps {
  readonly name: string;
  readonly children: React.ReactNode;
  readonly title?: string | undefined;
}

export function Fact({ name, children, title }: FactProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </>
  );
}

/** Class of a link among facts. */
export const factLink = styles['link'] ?? '';
