import { firstLine } from '../../components/visible-text.ts';
import styles from './approvals-page.module.css';
import { useSessionTitle } from './use-requests.ts';

/** The session in which is asked, by title and id: two requests can have the same words. */
export function SessionName({ session }: { readonly session: string }) {
  const title = useSessionTitle(session);
  return (
    <span className={styles['session']}>
      {title === undefined ? null : (
        <span className="cut">
          <bdi>{firstLine(title, 120)}</bdi>
        </span>
      )}
      <span className="mono cut">
        <bdi>{firstLine(session, 80)}</bdi>
      </span>
    </span>
  );
}
