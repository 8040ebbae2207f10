import styles from './creature.module.css';

/** The mark of an agent in lists. */
export function Creature({ name, size = 16 }: { readonly name: string; readonly size?: number }) {
  return (
    <span className={styles['creature']} style={{ width: size, height: size }} aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </span>
  );
}
