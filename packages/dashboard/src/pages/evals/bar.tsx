import styles from './evals-page.module.css';

/** Share that passed, as a bar. */
export function Bar({ share }: { readonly share: number }) {
  return (
    <span className={styles['bar']} aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}
