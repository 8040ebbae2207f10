import { visible } from '../visible-text.ts';
import { changesOf, textChange } from './changes.ts';
import styles from './schema-form.module.css';

interface ChangesViewProps {
  readonly before: unknown;
  readonly after: unknown;
}

/** Changes of an edit: each part with its old and its new value. */
export function ChangesView({ before, after }: ChangesViewProps) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p className={styles['none']}>Nothing is changed.</p>;
  return changes.map(({ path, before: old, after: now }) => (
    <div key={path} className={styles['row']} data-changed>
      <div className={styles['name']}>
        <span className="mono">
          <bdi>{path === '' ? 'Value' : visible(path)}</bdi>
        </span>
      </div>
      <div className={styles['diff']}>
        {typeof old === 'string' && typeof now === 'string' ? (
          <ChangedText before={old} after={now} />
        ) : (
          <>
            {old === undefined ? null : <del>{shown(old)}</del>}{' '}
            {now === undefined ? null : <ins>{shown(now)}</ins>}
          </>
        )}
      </div>
    </div>
  ));
}

function ChangedText({ before, after }: { readonly before: string; readonly after: string }) {
  const { start, removed, added, end } = textChange(before, after);
  return (
    <bdi>
      {visible(start)}
      {removed === '' ? null : <del>{visible(removed)}</del>}
      {added === '' ? null : <ins>{visible(added)}</ins>}
      {visible(end)}
    </bdi>
  );
}

function shown(value: unknown): string {
  return visible(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));
}
